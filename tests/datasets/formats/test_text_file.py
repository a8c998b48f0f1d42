"""Tables: every row of what csv writes comes back; damaged ones are one line that says where."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets.formats.text_file import table_rows, text_lines
from bench.errors import DataError

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=10)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=6), st.sampled_from([",", "\t"]), st.booleans())
def test_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str, has_mark: bool
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([("a", "b"), *rows])
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_bytes(text.getvalue().encode("utf-8-sig" if has_mark else "utf-8"))
    found = [(row["a"], row["b"]) for _, row in table_rows(path, ("a", "b"), "mend it", delimiter=delimiter)]
    assert found == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n1\n", "no column 'b'; needs columns a and b, has a; mend it"),
        (b"", "no column 'a'.*has none; mend it"),
        (b"a,b,a\n1,2,3\n", "two columns have the same name; mend it"),
        (b"a,b\n1\n", "line 2: row cut off or too long; mend it"),
        (b"a,b\n1,2,3\n", "line 2: row cut off or too long"),
        (b"a,b\n\xff,2\n", "not a table in UTF-8"),
        (b'a,b\n"1,2\n', "not a table in UTF-8"),
        (b"a,b\n" + b"x" * 200_000 + b",2\n", "field larger than field limit"),
    ],
)
def test_damaged_table_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        list(table_rows(tmp_path / "t.csv", ("a", "b"), "mend it"))
    assert str(caught.value).isprintable()


@given(st.binary(max_size=200))
def test_any_bytes_are_lines(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(content)
    assert all(line == line.strip() != "" for line in text_lines(path))
