"""Fetching datasets from a server on loopback: listed files, archives, hostile archives, and second runs."""

import errno
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from bench.datasets.fetch import publisher, source_table
from bench.datasets.fetch.download import RETRIES
from bench.datasets.fetch.publisher import Fetched
from bench.datasets.fetch.source_table import RemoteFile
from bench.errors import BenchError, DataError
from tests.datasets.loopback_server import CONTENT, Answer, Site


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def ptb(site: Site) -> Site:
    files = {
        "RECORDS": b"patient001/s0001_re\n",
        "patient001/s0001_re.dat": CONTENT,
        "extra.txt": b"not wanted",
    }
    sums = "".join(f"{checksum(content)} {path}\n" for path, content in files.items())
    site.answers = {path: Answer(content) for path, content in files.items()}
    site.answers["SHA256SUMS.txt"] = Answer(sums.encode())
    return site


def fetch(name: str, root: Path, site: Site, *, replace: bool = False) -> Fetched:
    return publisher.fetch(source_table.source(name, site.address), root, replace=replace)


def test_room_is_told_before_there_is_a_folder(tmp_path: Path) -> None:
    assert publisher.free_bytes(tmp_path / "not there yet" / "ptb") > 0
    assert list(tmp_path.iterdir()) == []


def test_listed_files_are_fetched_and_no_others(ptb: Site, tmp_path: Path) -> None:
    done = fetch("ptb", tmp_path, ptb)
    assert (done.n_files, done.n_files_kept) == (2, 0)
    names = sorted(str(path.relative_to(done.folder)) for path in done.folder.rglob("*") if path.is_file())
    assert names == ["FETCHED.json", "RECORDS", "SHA256SUMS.txt", "patient001/s0001_re.dat"]
    assert (done.folder / "patient001/s0001_re.dat").read_bytes() == CONTENT


def test_second_fetch_keeps_what_is_there(ptb: Site, tmp_path: Path) -> None:
    fetch("ptb", tmp_path, ptb)
    ptb.requests.clear()
    assert fetch("ptb", tmp_path, ptb).n_files_kept == 2
    assert ptb.requests == ["SHA256SUMS.txt"]


def test_damaged_file_is_fetched_again_when_asked(ptb: Site, tmp_path: Path) -> None:
    path = fetch("ptb", tmp_path, ptb).folder / "patient001/s0001_re.dat"
    path.write_bytes(CONTENT[:-1])
    done = fetch("ptb", tmp_path, ptb, replace=True)
    assert path.read_bytes() == CONTENT
    assert (done.n_files_kept, done.n_files_replaced) == (1, 1)


def test_file_of_another_version_is_not_replaced_unasked(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / "ptb").mkdir()
    for name in ("RECORDS", "SHA256SUMS.txt"):
        (tmp_path / "ptb" / name).write_bytes(b"of another version")
    with pytest.raises(DataError, match=r"1 of 1 files .* \(RECORDS\): .* another version; .*--replace"):
        fetch("ptb", tmp_path, ptb)
    found = {path.name: path.read_bytes() for path in (tmp_path / "ptb").iterdir()}
    assert found == dict.fromkeys(("RECORDS", "SHA256SUMS.txt"), b"of another version")
    assert "patient001/s0001_re.dat" not in ptb.requests


@pytest.mark.parametrize("answers", [{}, {"SHA256SUMS.txt": Answer(b"no list")}], ids=["none", "no list"])
def test_list_that_does_not_arrive_leaves_the_old_one(
    ptb: Site, tmp_path: Path, answers: dict[str, Answer]
) -> None:
    path = fetch("ptb", tmp_path, ptb).folder / "SHA256SUMS.txt"
    before = path.read_bytes()
    ptb.answers = answers
    with pytest.raises(DataError, match=r"SHA256SUMS\.txt"):
        fetch("ptb", tmp_path, ptb)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.new"))


def test_what_was_fetched_is_noted_with_its_checksum(ptb: Site, tmp_path: Path) -> None:
    done = fetch("ptb", tmp_path, ptb)
    note = json.loads((done.folder / "FETCHED.json").read_text())
    assert note["sha256"] == done.sha256 == checksum(ptb.answers["SHA256SUMS.txt"].content)
    assert (note["address"], note["path"]) == (ptb.address, "SHA256SUMS.txt")


def test_wrong_checksum_leaves_no_file(ptb: Site, tmp_path: Path) -> None:
    ptb.answers["patient001/s0001_re.dat"].content = CONTENT[::-1]
    with pytest.raises(DataError, match=r"s0001_re\.dat: the content does not have the publisher's checksum"):
        fetch("ptb", tmp_path, ptb)
    assert list((tmp_path / "ptb" / "patient001").iterdir()) == []


def test_interrupted_fetch_goes_on_with_what_is_missing(ptb: Site, tmp_path: Path) -> None:
    path = "patient001/s0001_re.dat"
    ptb.answers[path].break_after = [300_000] * (1 + RETRIES)
    with pytest.raises(DataError, match=r"s0001_re\.dat: could not be fetched in 6 attempts"):
        fetch("ptb", tmp_path, ptb)
    left = [found.name for found in tmp_path.rglob("*") if found.is_file()]
    assert sorted(left) == [".ptb.fetch.lock", "RECORDS", "SHA256SUMS.txt"]
    ptb.requests.clear()
    assert fetch("ptb", tmp_path, ptb).n_files_kept == 1
    assert ptb.requests == ["SHA256SUMS.txt", path]


def test_interrupt_leaves_nothing_half_written(ptb: Site, tmp_path: Path) -> None:
    total = 0

    def interrupt(count: int) -> None:
        nonlocal total
        total += count
        if total > 300_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publisher.fetch(source_table.source("ptb", ptb.address), tmp_path, arrived=interrupt)
    assert list((tmp_path / "ptb" / "patient001").iterdir()) == []
    assert not (tmp_path / ".ptb.fetching").exists()


def test_what_a_killed_fetch_left_is_removed(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / ".ptb.fetching").mkdir()
    (tmp_path / ".ptb.fetching" / "SHA256SUMS.txt").write_bytes(b"half of a li")
    fetch("ptb", tmp_path, ptb)
    assert not (tmp_path / ".ptb.fetching").exists()


def test_disk_that_fills_up_is_named(ptb: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"SHA256SUMS\.txt: cannot be written \(No space left on device\)"):
        fetch("ptb", tmp_path, ptb)


def test_lasting_trouble_with_one_file_ends_the_fetch(ptb: Site, tmp_path: Path) -> None:
    del ptb.answers["patient001/s0001_re.dat"]
    with pytest.raises(DataError, match=r"s0001_re\.dat: status 404"):
        fetch("ptb", tmp_path, ptb)


@pytest.mark.parametrize("line", ["nonsense", f"{'0' * 64} ../a", f"{'0' * 64} /a"])
def test_list_with_a_line_that_is_none_is_refused(ptb: Site, tmp_path: Path, line: str) -> None:
    ptb.answers["SHA256SUMS.txt"].content += line.encode()
    with pytest.raises(DataError, match=r"SHA256SUMS\.txt, line 4: .* is not a SHA-256 and a path within"):
        fetch("ptb", tmp_path, ptb)
    assert not (tmp_path / "ptb").exists()


def test_list_of_another_place_is_refused(ptb: Site, tmp_path: Path) -> None:
    ptb.answers["SHA256SUMS.txt"].content = f"{checksum(b'')} other.txt\n".encode()
    with pytest.raises(DataError, match=r"SHA256SUMS\.txt: lists none of RECORDS"):
        fetch("ptb", tmp_path, ptb)


def test_pinned_list_that_differs_is_refused(site: Site, tmp_path: Path) -> None:
    site.answers["SHA256SUMS.txt"] = Answer(f"{checksum(b'')} RECORDS\n".encode())
    with pytest.raises(
        DataError, match=r"SHA256SUMS\.txt: the content does not have the publisher's checksum"
    ):
        fetch("sleep-edf", tmp_path, site)


def test_progress_ends_with_all_bytes(ptb: Site, tmp_path: Path) -> None:
    source = source_table.source("ptb", ptb.address)
    everything = len(CONTENT) + 20 + len(ptb.answers["SHA256SUMS.txt"].content)
    for _ in range(2):  # the second time most are there already
        counts: list[int] = []
        publisher.fetch(source, tmp_path, arrived=counts.append)
        assert sum(counts) == everything


def test_full_disk_is_seen_before_it_starts(
    ptb: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "free_bytes", lambda folder: 1000)
    with pytest.raises(DataError, match=r"about 1\.81 GB are needed and 0\.00 GB are free"):
        fetch("ptb", tmp_path, ptb)
    assert ptb.requests == ["SHA256SUMS.txt"]


def test_simulated_folder_is_left_alone(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / "ptb").mkdir()
    (tmp_path / "ptb" / "SIMULATED.json").write_text("{}")
    with pytest.raises(DataError, match="holds simulated data"):
        fetch("ptb", tmp_path, ptb)
    assert ptb.requests == []


def test_room_for_both_unpackings_is_asked_for() -> None:
    source = source_table.source("uci-har")
    assert isinstance(source.content, source_table.Archive)
    assert publisher.needed_bytes(source) == source.n_bytes + 2 * source.content.max_bytes


def test_second_fetch_at_once_is_refused(ptb: Site, tmp_path: Path) -> None:
    with publisher._workplace(tmp_path / "ptb") as workplace:
        with pytest.raises(DataError, match="ptb: another fetch of it is running"):
            fetch("ptb", tmp_path, ptb)
        assert workplace.is_dir()


def test_folder_that_cannot_be_written_is_named(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BenchError, match=r"cannot write to .*file: .*choose a folder"):
        fetch("ptb", tmp_path / "file", ptb)


def zipped(content: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return buffer.getvalue()


UCI_PATH = "human+activity+recognition+using+smartphones.zip"
UCI_INNER = {"UCI HAR Dataset/test/y_test.txt": b"1\n", "__MACOSX/UCI HAR Dataset/._y": b"", "notes.txt": b""}


def test_archive_in_an_archive_is_unpacked(site: Site, tmp_path: Path) -> None:
    site.answers[UCI_PATH] = Answer(zipped({"UCI HAR Dataset.zip": zipped(UCI_INNER), "x.names": b""}))
    done = fetch("uci-har", tmp_path, site)
    assert done.n_files == 1
    assert done.sha256 == checksum(site.answers[UCI_PATH].content)
    assert (tmp_path / "uci-har/UCI HAR Dataset/test/y_test.txt").read_bytes() == b"1\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["uci-har"]


def test_files_are_taken_from_anywhere_in_an_archive(site: Site, tmp_path: Path) -> None:
    content = {"AD/preproctrials01.mat": b"1", "Healthy/preproctrials02.mat": b"2", "readme.txt": b""}
    site.answers["?zip="] = Answer(zipped(content))
    done = fetch("apava", tmp_path, site)
    assert sorted(path.name for path in done.folder.iterdir()) == [
        "FETCHED.json",
        "preproctrials01.mat",
        "preproctrials02.mat",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"../../evil.mat": b"1", "preproctrials01.mat": b"2"}), "leads out of the folder"),
        (zipped({"readme.txt": b"1"}), r"no preproctrials\*\.mat in it"),
        (
            zipped({"a/preproctrials01.mat": b"1", "b/preproctrials01.mat": b"2"}),
            r"'preproctrials01\.mat' occurs twice",
        ),
        (b"not an archive at all", "not a zip archive"),
    ],
    ids=["hostile", "other content", "doubled", "no archive"],
)
def test_unusable_archive_leaves_no_dataset(site: Site, tmp_path: Path, content: bytes, message: str) -> None:
    site.answers["?zip="] = Answer(content)
    with pytest.raises(DataError, match=rf"\?zip=: archive: .*{message}"):
        fetch("apava", tmp_path / "root", site)
    assert not (tmp_path / "root" / "apava").exists()
    assert not list(tmp_path.rglob("evil.mat"))


def test_archive_that_was_useless_is_not_kept(site: Site, tmp_path: Path) -> None:
    site.answers["?zip="] = Answer(b"not an archive at all")
    with pytest.raises(DataError, match="not a zip archive"):
        fetch("apava", tmp_path, site)
    site.answers["?zip="] = Answer(zipped({"preproctrials01.mat": b"1"}))
    assert fetch("apava", tmp_path, site).n_files == 1


def test_archive_does_not_replace_a_folder_with_content(site: Site, tmp_path: Path) -> None:
    (tmp_path / "apava").mkdir()
    (tmp_path / "apava" / "mine.txt").touch()
    with pytest.raises(DataError, match="is not empty"):
        fetch("apava", tmp_path, site)


def test_table_of_files_is_fetched_with_sizes(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [RemoteFile("a b.set", checksum(CONTENT), len(CONTENT)), RemoteFile("README")]
    monkeypatch.setattr(publisher, "read_table", lambda name: files)
    site.answers = {"a%20b.set": Answer(), "README": Answer(b"text")}
    done = fetch("adftd", tmp_path, site)
    assert (done.folder / "a b.set").read_bytes() == CONTENT
    assert (done.folder / "README").read_bytes() == b"text"
