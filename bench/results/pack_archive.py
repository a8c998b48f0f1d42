"""The container of a pack: a zip file of which every byte is content or follows from it, read without trust."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bench.datasets.contract import as_one_line
from bench.datasets.formats.source_files import open_regular
from bench.errors import RecordError

AGAIN = "get the archive again, or pack the results again"

_DATE = (1980, 1, 1, 0, 0, 0)
_CHUNK_BYTES = 1 << 16
# No stream of deflate inflates more.
_LARGEST_RATIO = 1032
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# Disk numbers, numbers of entries, size and place of the directory, length of a comment.
_END = struct.Struct("<4s4H2LH")
# Signature, version and system that wrote it, what the local header says from its fifth byte to the name, length of a
# comment, disk, kind of text, rights, place.
_LISTED, _NAME_AT = struct.Struct("<4s2B26s3H2L"), 30
_MOST_ENTRIES, _MOST_BYTES = 2**16 - 1, 2**31 - 1
# What zipfile and the system raise on damaged archives.
_ERRORS = (
    *(OSError, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


def new_entry(name: str) -> zipfile.ZipInfo:
    """Return an entry with the same date and rights wherever and whenever it is written."""
    entry = zipfile.ZipInfo(name, date_time=_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


@contextmanager
def opened(archive: Path) -> Iterator["PackArchive"]:
    """Open an archive; what is damaged in it is refused in the block, as one line.

    Raises
    ------
    RecordError
        The archive is no regular file, no zip file, encrypted, damaged, or larger than a pack can be.
    """
    try:
        with open_regular(archive) as file, zipfile.ZipFile(file) as source:
            yield PackArchive(archive, file, source)
    except _ERRORS as error:
        reason = as_one_line(str(error)) or type(error).__name__
        raise RecordError(f"{archive}: not readable as a pack ({reason}); {AGAIN}") from error


class PackArchive:
    """The entries of an open archive by name, each read only as far as its announced size."""

    def __init__(self, path: Path, file: IO[bytes], source: zipfile.ZipFile) -> None:
        self.path, self._file, self._source = path, file, source
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for entry in source.infolist():
            if entry.filename in self.entries:
                raise ValueError(f"'{entry.filename}' occurs twice")
            if entry.flag_bits & _ENCRYPTED:
                raise ValueError(f"'{entry.filename}' is encrypted")
            if entry.compress_type not in _METHODS:
                raise ValueError(f"'{entry.filename}' is compressed by method {entry.compress_type}")
            if entry.file_size > _LARGEST_RATIO * entry.compress_size:
                raise ValueError(
                    f"'{entry.filename}': {entry.file_size} bytes in {entry.compress_size} of the archive"
                )
            self.entries[entry.filename] = entry

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return the content of an entry.

        Raises
        ------
        ValueError
            There is no such entry, or it is larger than that.
        """
        if name not in self.entries:
            raise ValueError(f"no {name}")
        n_bytes = self.entries[name].file_size
        if n_bytes > most_bytes:
            raise ValueError(f"{name}: {n_bytes} bytes, at most {most_bytes} are expected")
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the content of an entry piece by piece."""
        with self._source.open(self.entries[name]) as content:
            while chunk := content.read(_CHUNK_BYTES):
                yield chunk

    def require_as_written(self) -> None:
        """Refuse bytes that are neither content nor what `new_entry` gives: hidden parts, other dates, loose ends.

        Raises
        ------
        ValueError
            There are such bytes.
        """
        n_bytes, n_entries, start = self._file.seek(0, 2), len(self.entries), self._source.start_dir
        if n_entries > _MOST_ENTRIES or n_bytes > _MOST_BYTES:
            raise ValueError(f"{n_entries} entries in {n_bytes} bytes are more than a pack can have")
        position, directory = 0, b""
        for entry in self.entries.values():
            header, listed = _headers(entry, position)
            self._require_bytes(position, header, f"'{entry.filename}'")
            self._require_whole(entry)
            position += len(header) + entry.compress_size
            directory += listed
        end = _END.pack(b"PK\x05\x06", 0, 0, n_entries, n_entries, len(directory), position, 0)
        self._require_bytes(start, directory + end, "its directory")
        if (position, n_bytes) != (start, start + len(directory) + len(end)):
            raise ValueError("bytes beside its entries")

    def _require_bytes(self, position: int, expected: bytes, what: str) -> None:
        self._file.seek(position)
        if self._file.read(len(expected)) != expected:
            raise ValueError(f"{what} is not as a pack is written")

    def _require_whole(self, entry: zipfile.ZipInfo) -> None:
        """Refuse a stream that ends before its bytes do."""
        stream, left = zlib.decompressobj(-zlib.MAX_WBITS), entry.compress_size
        while left and not stream.eof:
            waiting = self._file.read(min(_CHUNK_BYTES, left))
            left -= len(waiting)
            while waiting and not stream.eof:
                stream.decompress(waiting, _CHUNK_BYTES)
                waiting = stream.unconsumed_tail
        if left or stream.unused_data or not stream.eof:
            raise ValueError(f"'{entry.filename}': bytes that are not its content")


def _headers(entry: zipfile.ZipInfo, position: int) -> tuple[bytes, bytes]:
    """Return what stands before the content of an entry at a position, and what the directory has of it."""
    wanted = new_entry(entry.filename)
    wanted.CRC, wanted.compress_size, wanted.file_size = entry.CRC, entry.compress_size, entry.file_size
    header = wanted.FileHeader(zip64=False)
    name = header[_NAME_AT:]
    listed = _LISTED.pack(
        b"PK\x01\x02",
        wanted.create_version,
        wanted.create_system,
        header[4:_NAME_AT],
        0,
        0,
        0,
        wanted.external_attr,
        position,
    )
    return header, listed + name
