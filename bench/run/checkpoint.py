"""The state of an unfinished training on disk, so that a killed cell continues from its last epoch.

The file is one line with the SHA-256 of the rest, then torch's own format: torch detects a file that is too
short, but not one with changed numbers.
"""

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import torch

from bench.files import atomic_file
from bench.results.store import set_aside
from bench.run.job import Job
from bench.train.fit import Fit


def save(job: Job, fit: Fit) -> None:
    """Write the state between two epochs, whole or not at all.

    Raises
    ------
    OSError
        The write failed; an earlier checkpoint is still there.
    """
    buffer = io.BytesIO()
    torch.save({"key": job.cell.key, "manner": _manner(job), "fit": fit.state_dict()}, buffer)
    content = buffer.getbuffer()
    with atomic_file(job.folder.checkpoint) as temporary, temporary.open("wb") as file:
        file.write(f"{hashlib.sha256(content).hexdigest()}\n".encode())
        file.write(content)


def restore(job: Job, fit: Fit) -> bool:
    """Restore a saved state; return whether there was one of this cell, trained in the same manner.

    A damaged file, or one of another cell, is renamed to ``damaged-N-checkpoint.pt``. That, and a state from
    micro-batches of another size or another number of processes, whose random draws cannot continue here, is noted in
    the cell's log; the training then starts afresh.
    """
    path = job.folder.checkpoint
    if not path.exists():
        return False
    try:
        state = _read(path, job.cell.key)
    except (EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        kept = set_aside(path)
        print(f"checkpoint is damaged ({error}), kept as {kept.name}; the training starts afresh")
        return False
    if state["manner"] != _manner(job):
        print(f"checkpoint is of {state['manner']}, not of {_manner(job)}; the training starts afresh")
        return False
    fit.load_state_dict(state["fit"])
    return True


def _manner(job: Job) -> dict[str, int | None]:
    """Return the settings that change a training's random draws but not its key."""
    return {"micro_batch_size": job.training.micro_batch_size, "ranks": job.ranks}


def _read(path: Path, key: str) -> dict[str, Any]:
    digest, _, content = path.read_bytes().partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ValueError("its content is not what its first line says")
    state = torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    if state["key"] != key:
        raise ValueError(f"it is of cell {state['key'][:12]}")
    return state
