"""The file that marks a folder as simulated, so that no table can take it for a publisher's data."""

import json
from collections.abc import Mapping
from pathlib import Path

from bench.datasets.contract import as_one_line
from bench.datasets.formats.source_files import is_there, read_regular
from bench.errors import DataError
from bench.files import atomic_file

MARKER_NAME = "SIMULATED.json"
_MOST_BYTES = 2**16


def write_marker(folder: Path, **parameters: str | int | float) -> None:
    """Write ``SIMULATED.json`` with what the simulator was given: simulator, revision, seed, sizes.

    Every simulator does this first, so that one that is killed half-way never passes for the publisher's data. The
    folder is made if need be.
    """
    text = json.dumps({"simulated": True, **parameters}, indent=1, sort_keys=True) + "\n"
    with atomic_file(folder / MARKER_NAME) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_marker(folder: Path) -> Mapping[str, str | int | float] | None:
    """Return the simulator's parameters, or None where the folder is not marked as simulated.

    Raises
    ------
    DataError
        The marker is there but unreadable: the folder is simulated, by what nobody knows.
    """
    path = folder / MARKER_NAME
    if not is_there(path):
        return None
    try:
        content = json.loads(read_regular(path, _MOST_BYTES).decode())
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); get permission to read it, or simulate the folder again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: not readable as JSON ({as_one_line(str(error))}); simulate the folder again"
        ) from error
    if not isinstance(content, dict) or not all(isinstance(v, str | int | float) for v in content.values()):
        raise DataError(f"{path}: not an object of plain values; simulate the folder again")
    return {key: value for key, value in content.items() if key != "simulated"}
