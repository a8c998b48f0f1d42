"""Files of a dataset: regular ones are opened, and whatever the system refuses is one line with a remedy."""

import os
from pathlib import Path

import pytest

from bench.datasets.contract import DamagedRecord, as_one_line
from bench.datasets.formats import source_files
from bench.datasets.formats.source_files import is_there, read_regular, refused_as, source_file
from bench.datasets.formats.text_file import text_lines
from bench.errors import DataError


def refused(folder: Path, relative: str, message: str) -> None:
    with pytest.raises(DamagedRecord, match=message) as caught:
        source_file(folder, relative)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("relative", "message"),
    [
        ("gone", "gone: no such file; get it"),
        ("file/below", "no such file"),
        ("folder", "Is a directory"),
        ("pipe", "is a pipe or a device instead of a file"),
        ("zero", "is outside of the dataset's folder"),
        ("circle", "links that lead in a circle"),
        ("dangling", "is a link to nothing"),
        ("empty", "the file is empty"),
        ("x" * 300, "longer than the system allows"),
        ("a\x00b", r"a\\x00b: no file can have such a name"),
        ("a\udcffb", r"a\\udcffb: no (such file|file can have such a name)"),
        ("../file", "is outside of the dataset's folder"),
        ("two\nlines", r"two\\nlines: no such file"),
    ],
)
def test_what_is_no_file_is_one_line(tmp_path: Path, relative: str, message: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "empty").touch()
    refused(tmp_path, relative, message)


def test_file_larger_than_such_a_file_can_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(11))
    assert source_file(tmp_path, "file", 11).name == "file"
    with pytest.raises(DamagedRecord, match="11 bytes, at most 10 are expected"):
        source_file(tmp_path, "file", 10)
    with pytest.raises(OSError, match="at most 10"):
        read_regular(tmp_path / "file", 10)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "permission denied; get permission to read it"),
        (OSError(5, "Input/output error"), "Input/output error; get it again"),
        (RuntimeError("Symlink loop from x"), "links that lead in a circle"),
        (ValueError("embedded null byte"), "no file can have such a name"),
    ],
)
@pytest.mark.parametrize("kind", [DamagedRecord, DataError])
def test_every_refusal_of_the_system_has_a_remedy(
    kind: type[DamagedRecord] | type[DataError], error: Exception, message: str
) -> None:
    with pytest.raises(kind, match=f"a file: {message}"), refused_as(kind, "a file"):
        raise error


def test_pipe_in_place_of_a_table_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "RECORDS")
    with pytest.raises(DamagedRecord, match="RECORDS: is a pipe or a device"):
        text_lines(tmp_path / "RECORDS")


def test_what_may_not_be_looked_at_counts_as_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    assert not is_there(tmp_path / "gone")
    assert is_there(tmp_path / ("x" * 300))
    monkeypatch.setattr(source_files.Path, "stat", refuse)
    assert is_there(tmp_path / "gone")


def test_lines_are_printable_and_of_bearable_length() -> None:
    assert as_one_line("a\nb\x00\udcff") == r"a\nb\x00\udcff"
    assert len(as_one_line("x" * 10_000)) == 503
