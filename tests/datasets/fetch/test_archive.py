"""Archives: whole ones are unpacked, hostile and damaged ones leave nothing behind."""

import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from bench.datasets.fetch.archive import extract, inside
from bench.errors import DataError

ANYTHING = (("*",), 10_000, 10)
CONTENT = {"a/b c.txt": b"first", "d.bin": bytes(range(256))}


def make_zip(path: Path, content: dict[str, bytes], *, mode: int = 0o644) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_whole_archive_is_unpacked(tmp_path: Path) -> None:
    assert extract(make_zip(tmp_path / "archive", CONTENT), tmp_path / "out", *ANYTHING) == 2
    assert files_in(tmp_path / "out") == CONTENT


def test_tar_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive", "w") as archive:
        archive.add(__file__, "entry")
    with pytest.raises(DataError, match=r"archive: not a zip archive \("):
        extract(tmp_path / "archive", tmp_path / "out", *ANYTHING)


OUTSIDE = ["../evil", "/evil", "a/../../evil", "..\\evil", "C:/evil", "a\x00b/evil", "a\nb"]


@pytest.mark.parametrize("name", [*OUTSIDE, "", ".", "x" * 1001])
def test_name_that_leaves_the_folder_is_seen(name: str) -> None:
    assert inside(name) is None


@pytest.mark.parametrize("name", ["a", "a/b", "./a", "a b/c..d/...", "ä"])
def test_name_inside_the_folder_is_accepted(name: str) -> None:
    assert inside(name) is not None


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "..\\evil"])
def test_entry_outside_leaves_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    archive = make_zip(tmp_path / "archive", {"good.txt": b"1", name: b"2"})
    with pytest.raises(DataError, match="leads out of the folder"):
        extract(archive, folder / "out", *ANYTHING)
    assert files_in(tmp_path) == {"archive": archive.read_bytes()}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("mode", "named"), [(stat.S_IFLNK, "a link"), (stat.S_IFIFO, "a device")])
def test_zip_with_anything_but_files_is_refused(tmp_path: Path, mode: int, named: str) -> None:
    archive = make_zip(tmp_path / "archive", {"entry": b"/etc/passwd"}, mode=mode | 0o777)
    with pytest.raises(DataError, match=f"entry 'entry' is {named}"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {f"{number}": b"" for number in range(11)})
    with pytest.raises(DataError, match="more than 10 files"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_folders_count_as_files(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {f"{number}/": b"" for number in range(11)})
    with pytest.raises(DataError, match="more than 10 files and folders"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_too_many_bytes_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"a": bytes(6000), "b": bytes(6000)})
    with pytest.raises(DataError, match="more than 10000 bytes unpacked"):
        extract(archive, tmp_path / "out", *ANYTHING)
    assert not (tmp_path / "out").exists()


def test_zip_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"bomb": bytes(3_000_000)})
    content = archive.read_bytes()
    size = (3_000_000).to_bytes(4, "little")
    assert content.count(size) == 2  # in the entry and in the directory
    archive.write_bytes(content.replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(DataError, match=r"cannot be unpacked|does not have the 100 bytes"):
        extract(archive, tmp_path / "out", *ANYTHING)
    assert list(tmp_path.iterdir()) == [archive]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "A"), "differ only in case"),
        (("a", "./a"), "'a' occurs twice"),
        (("b/c/d.mat", "b/C/d.mat"), "differ only in case"),
    ],
)
def test_doubled_name_is_refused(tmp_path: Path, names: tuple[str, str], message: str) -> None:
    archive = make_zip(tmp_path / "archive", dict.fromkeys(names, b"1"))
    with pytest.raises(DataError, match=message):
        extract(archive, tmp_path / "out", *ANYTHING)


DATASET = {
    "outer/data set/a.txt": b"1",
    "outer/data set/b/c.txt": b"2",
    "outer/notes.txt": b"no",
    "__MACOSX/outer/data set/a.txt": b"no",
    "outer/data set/._a.txt": b"no",
    "one.mat": b"3",
    "deep/er/two.mat": b"4",
}


def test_what_is_wanted_is_taken_from_anywhere(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", DATASET)
    assert extract(archive, tmp_path / "out", ("data set", "*.mat"), 4, 10) == 4
    assert files_in(tmp_path / "out") == {
        "data set/a.txt": b"1",
        "data set/b/c.txt": b"2",
        "one.mat": b"3",
        "two.mat": b"4",
    }


def test_wanted_name_in_two_places_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"a/1.mat": b"1", "b/1.mat": b"2"})
    with pytest.raises(DataError, match=r"'1\.mat' occurs twice"):
        extract(archive, tmp_path / "out", ("*.mat",), 10, 10)


def test_hostile_entry_is_refused_even_if_not_wanted(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"1.mat": b"1", "../evil": b"2"})
    with pytest.raises(DataError, match="leads out of the folder"):
        extract(archive, tmp_path / "out", ("*.mat",), 10, 10)


def test_name_of_a_file_and_a_folder_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"a": b"1", "a/b": b"2"})
    with pytest.raises(DataError, match="entry 'a/b' cannot be unpacked"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_encrypted_entry_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"secret": b"1"})
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(DataError, match="entry 'secret' is encrypted"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_entry_whose_header_asks_for_memory_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "archive", "w", zipfile.ZIP_LZMA) as target:
        target.writestr("entry", b"1")
    with pytest.raises(DataError, match="entry 'entry' is compressed by method 14"):
        extract(tmp_path / "archive", tmp_path / "out", *ANYTHING)


@pytest.mark.parametrize("kept", [0, 10, 0.4, 0.9])
def test_truncated_archive_leaves_nothing(tmp_path: Path, kept: float) -> None:
    noise = b"".join(hash((i, 1)).to_bytes(8, "little", signed=True) for i in range(500))
    archive = make_zip(tmp_path / "archive", {"a": noise, "b": noise[::-1]})
    content = archive.read_bytes()
    archive.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    with pytest.raises(DataError, match=r"archive"):
        extract(archive, tmp_path / "out", *ANYTHING)
    assert list(tmp_path.iterdir()) == [archive]


def test_flipped_byte_is_noticed(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "archive", {"a": b"some text that is deflated" * 20})
    content = bytearray(archive.read_bytes())
    content[45] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(DataError, match="entry 'a' cannot be unpacked"):
        extract(archive, tmp_path / "out", *ANYTHING)


def test_empty_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no \* in it"):
        extract(make_zip(tmp_path / "archive", {}), tmp_path / "out", *ANYTHING)
