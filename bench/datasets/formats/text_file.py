"""Reading a publisher's text files whatever their byte order mark, encoding and line ends."""

import codecs
from pathlib import Path


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file, stripped, without the empty ones.

    A byte order mark is honoured (UTF-8, UTF-16); anything else that is not UTF-8 is taken as Latin-1. Line
    ends may be LF, CRLF or CR.
    """
    content = path.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    return [line for line in map(str.strip, text.splitlines()) if line]
