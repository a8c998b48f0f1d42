"""The file that marks a folder as simulated, so that no table can take it for a publisher's data."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.errors import DataError

MARKER_NAME = "SIMULATED.json"


def write_marker(folder: Path, **parameters: str | int | float) -> None:
    """Write ``SIMULATED.json`` with what the simulator was given: simulator, revision, seed, sizes."""
    text = json.dumps({"simulated": True, **parameters}, indent=1, sort_keys=True) + "\n"
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{MARKER_NAME}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(folder / MARKER_NAME)


def read_marker(folder: Path) -> Mapping[str, str | int | float] | None:
    """Return the simulator's parameters, or None where the folder is not marked as simulated.

    Raises
    ------
    DataError
        The marker is there but unreadable: the folder is simulated, by what nobody knows.
    """
    path = folder / MARKER_NAME
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: not readable as JSON ({error}); simulate the folder again") from error
    if not isinstance(content, dict) or not all(isinstance(v, str | int | float) for v in content.values()):
        raise DataError(f"{path}: not an object of plain values; simulate the folder again")
    return {key: value for key, value in content.items() if key != "simulated"}
