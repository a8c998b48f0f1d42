"""Reading a publisher's text files and tables whatever their byte order mark, encoding and line ends."""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.datasets.contract import DamagedRecord, as_one_line
from bench.datasets.formats.source_files import MOST_TEXT_BYTES, read_regular, refused_as
from bench.errors import DataError


def text_lines(path: Path, most_bytes: int = MOST_TEXT_BYTES) -> list[str]:
    """Return the lines of a text file, stripped, without the empty ones; see `numbered_lines`."""
    return [line for _, line in numbered_lines(path, most_bytes)]


def numbered_lines(path: Path, most_bytes: int = MOST_TEXT_BYTES) -> list[tuple[int, str]]:
    """Return the lines of a text file, stripped, without the empty ones, each with its number in the file.

    A byte order mark is honoured (UTF-8, UTF-16); anything else that is not UTF-8 is taken as Latin-1. Line
    ends may be LF, CRLF or CR.

    Raises
    ------
    DamagedRecord
        The file cannot be read, or has more than ``most_bytes``.
    """
    with refused_as(DamagedRecord, path.name):
        content = read_regular(path, most_bytes)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    lines = enumerate(map(str.strip, text.splitlines()), start=1)
    return [(number, line) for number, line in lines if line]


def table_rows(
    path: Path, columns: Sequence[str], remedy: str, *, delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with a heading, each with the number of its last line.

    Parameters
    ----------
    path
        A table in UTF-8.
    columns
        Those that it must have.
    remedy
        What to do about a table that cannot be used; ends every message.
    delimiter
        What parts the columns.

    Raises
    ------
    DataError
        The file cannot be read, is no such table, a column is missing or there twice, or a row is cut off or too long.
    """
    with refused_as(DataError, path):
        content = read_regular(path)
    try:
        table = csv.DictReader(
            io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True
        )
        names = table.fieldnames or ()
        missing = [name for name in columns if name not in names]
        if missing:
            found = as_one_line(", ".join(names)[:200]) or "none"
            raise DataError(
                f"{path}: no column '{missing[0]}'; needs columns {' and '.join(columns)}, has {found}; {remedy}"
            )
        if len(set(names)) != len(names):
            raise DataError(f"{path}: two columns have the same name; {remedy}")
        for row in table:
            if None in row or None in row.values():
                raise DataError(f"{path}, line {table.line_num}: row cut off or too long; {remedy}")
            yield table.line_num, row
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a table in UTF-8 ({error}); {remedy}") from error
