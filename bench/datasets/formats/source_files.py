"""Finding a record's file inside the dataset's folder, or saying why it is not usable."""

from pathlib import Path

from bench.datasets.contract import DamagedRecord

# A pointer names the object in at most a few hundred bytes; no file that we read is as small.
_ANNEX_POINTER_MAX_BYTES = 1000


def source_file(folder: Path, relative: str) -> Path:
    """Return the path of a file that exists, is not empty and lies inside the dataset's folder.

    Raises
    ------
    DamagedRecord
        The file is missing, empty, a link out of the folder, or a placeholder that git-annex left.
    """
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DamagedRecord(f"{relative}: is outside of the dataset's folder; put the file itself there")
    if path.is_symlink() and not path.exists():
        raise DamagedRecord(f"{relative}: is a link to nothing; get the content (git-annex: 'datalad get')")
    if not path.is_file():
        raise DamagedRecord(f"{relative}: no such file; get it from the publisher")
    size = path.stat().st_size
    if size == 0:
        raise DamagedRecord(f"{relative}: the file is empty; get it again from the publisher")
    if size <= _ANNEX_POINTER_MAX_BYTES and b"annex/objects/" in path.read_bytes():
        raise DamagedRecord(f"{relative}: is a git-annex placeholder; get the content ('datalad get')")
    return path
