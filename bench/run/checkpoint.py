"""The state of an unfinished training on disk, so that a cell killed in any epoch goes on where it was."""

from pathlib import Path
from typing import Any

import torch

from bench.files import atomic_file
from bench.train.fit import Fit


def save(path: Path, key: str, fit: Fit) -> None:
    """Write the state between two epochs, whole or not at all."""
    with atomic_file(path) as temporary:
        torch.save({"key": key, "fit": fit.state_dict()}, temporary)


def restore(path: Path, key: str, fit: Fit) -> bool:
    """Put a saved state back; tell whether there was one of this very cell.

    A file that is damaged or another cell's is removed: the training then starts afresh.
    """
    if not path.exists():
        return False
    state = _read(path)
    if state is None or state.get("key") != key:
        path.unlink()
        return False
    fit.load_state_dict(state["fit"])
    return True


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return torch.load(path, weights_only=True, map_location="cpu")
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        # Said in the cell's log; the cost is the epochs that the file held, nothing else.
        print(f"checkpoint {path.name} is damaged ({error}); the training starts afresh")
        return None
