"""The list of a report's files, kept beside them so that the next report removes what it does not write again."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.datasets.formats.source_files import read_regular
from bench.render.export import write_text
from bench.results.json_record import parse_json

LIST = "files.json"


def replace_listed(report: Path, files: Iterable[Path]) -> Path:
    """Remove files of the last report that this report lacks, and write the list of its own files.

    Only listed files are ever removed, so files that no report has written stay.
    """
    path = report / LIST
    names = sorted(file.relative_to(report).as_posix() for file in files)
    for name in set(_listed(path)) - set(names):
        old = report / name
        if old.resolve().is_relative_to(report.resolve()):
            old.unlink(missing_ok=True)
    return write_text(path, json.dumps({"files": names}, indent=1) + "\n")


def _listed(path: Path) -> Sequence[str]:
    """Return the files that are listed; none if the list is absent or unreadable."""
    try:
        listed = parse_json(read_regular(path))["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return ()
    # A name with a NUL byte, or longer than the system allows, is no file of ours.
    names = listed if isinstance(listed, list) else ()
    return [name for name in names if isinstance(name, str) and name.isprintable() and len(name) < 250]
