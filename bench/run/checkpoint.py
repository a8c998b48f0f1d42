"""The state of an unfinished training on disk, so that a cell killed in any epoch goes on where it was.

The file is the SHA-256 of the rest as one line of text, and torch's own format: torch finds a file that is too
short, but loads one with changed numbers.
"""

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import torch

from bench.files import atomic_file
from bench.results.store import CellFolder
from bench.train.fit import Fit


def save(path: Path, key: str, fit: Fit) -> None:
    """Write the state between two epochs, whole or not at all.

    Raises
    ------
    OSError
        The disk refuses; an earlier checkpoint is still there.
    """
    buffer = io.BytesIO()
    torch.save({"key": key, "fit": fit.state_dict()}, buffer)
    content = buffer.getbuffer()
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        file.write(f"{hashlib.sha256(content).hexdigest()}\n".encode())
        file.write(content)


def restore(folder: CellFolder, key: str, fit: Fit) -> bool:
    """Put a saved state back; tell whether there was one of this very cell.

    A damaged file, or one of another cell, is renamed to ``damaged-N.pt`` and said in the cell's log; the training
    then starts afresh.
    """
    if not folder.checkpoint.exists():
        return False
    try:
        state = _read(folder.checkpoint, key)
    except (EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        kept = _quarantine(folder)
        print(f"checkpoint is damaged ({error}), kept as {kept.name}; the training starts afresh")
        return False
    fit.load_state_dict(state["fit"])
    return True


def _read(path: Path, key: str) -> dict[str, Any]:
    digest, _, content = path.read_bytes().partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ValueError("its content is not what its first line says")
    state = torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    if state["key"] != key:
        raise ValueError(f"it is of cell {state['key'][:12]}")
    return state


def _quarantine(folder: CellFolder) -> Path:
    number = 1
    while (target := folder.path / f"damaged-{number}.pt").exists():
        number += 1
    return folder.checkpoint.replace(target)
