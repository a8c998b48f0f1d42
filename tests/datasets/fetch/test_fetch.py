"""Fetching datasets from a server on loopback: listed files, archives, hostile archives, and second runs."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.datasets.fetch import download, fetch, source_table
from bench.datasets.fetch.source_table import RemoteFile
from bench.errors import DataError, UsageError
from tests.datasets.loopback_server import CONTENT, HALFWAY, Answer, Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as site:
        yield site


@pytest.mark.parametrize(
    "address",
    ["http://example.org/", "ftp://a/", "https://", "https://user:word@a/", "http://127.0.0.1.evil.org/"],
)
def test_address_other_than_https_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="must start with https://"):
        fetch.plan("ptb", tmp_path, base_address=address)


def test_unknown_dataset_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'ptb-xl'"):
        fetch.plan("ptbxl", tmp_path)


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


def test_plan_tells_licence_and_size_without_the_network(tmp_path: Path) -> None:
    found = fetch.plan("ptb", tmp_path / "not there yet")
    assert found.licence == "Open Data Commons Attribution License 1.0"
    assert found.n_bytes > 1e9
    assert found.folder == tmp_path / "not there yet" / "ptb"
    assert found.n_bytes_free > 0
    assert list(tmp_path.iterdir()) == []


def test_listed_files_are_fetched_and_no_others(ptb: Site, tmp_path: Path) -> None:
    done = fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert (done.n_files, done.n_files_kept) == (2, 0)
    names = sorted(str(path.relative_to(done.folder)) for path in done.folder.rglob("*") if path.is_file())
    assert names == ["FETCHED.json", "RECORDS", "SHA256SUMS.txt", "patient001/s0001_re.dat"]
    assert (done.folder / "patient001/s0001_re.dat").read_bytes() == CONTENT


def test_second_fetch_keeps_what_is_there(ptb: Site, tmp_path: Path) -> None:
    fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    ptb.requests.clear()
    assert fetch.fetch("ptb", tmp_path, base_address=ptb.address).n_files_kept == 2
    assert [path for path, _ in ptb.requests] == ["SHA256SUMS.txt"]


def test_damaged_file_is_fetched_again_when_asked(ptb: Site, tmp_path: Path) -> None:
    path = fetch.fetch("ptb", tmp_path, base_address=ptb.address).folder / "patient001/s0001_re.dat"
    path.write_bytes(CONTENT[:-1])
    done = fetch.fetch("ptb", tmp_path, base_address=ptb.address, replace=True)
    assert path.read_bytes() == CONTENT
    assert (done.n_files_kept, done.n_files_replaced) == (1, 1)


def test_file_of_another_version_is_not_replaced_unasked(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / "ptb").mkdir()
    for name in ("RECORDS", "SHA256SUMS.txt"):
        (tmp_path / "ptb" / name).write_bytes(b"of another version")
    with pytest.raises(DataError, match=r"1 of 1 files .* \(RECORDS\): .* another version; .*--replace"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    found = {path.name: path.read_bytes() for path in (tmp_path / "ptb").iterdir()}
    assert found == dict.fromkeys(("RECORDS", "SHA256SUMS.txt"), b"of another version")
    assert "patient001/s0001_re.dat" not in [path for path, _ in ptb.requests]


@pytest.mark.parametrize("answers", [{}, {"SHA256SUMS.txt": Answer(b"no list")}], ids=["none", "no list"])
def test_list_that_does_not_arrive_leaves_the_old_one(
    ptb: Site, tmp_path: Path, answers: dict[str, Answer]
) -> None:
    path = fetch.fetch("ptb", tmp_path, base_address=ptb.address).folder / "SHA256SUMS.txt"
    before = path.read_bytes()
    ptb.answers = answers
    with pytest.raises(DataError, match=r"SHA256SUMS\.txt"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.new"))


def test_what_was_fetched_is_noted_with_its_checksum(ptb: Site, tmp_path: Path) -> None:
    done = fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    note = json.loads((done.folder / "FETCHED.json").read_text())
    assert note["sha256"] == done.sha256 == checksum(ptb.answers["SHA256SUMS.txt"].content)
    assert (note["address"], note["path"]) == (ptb.address, "SHA256SUMS.txt")


def test_wrong_checksum_leaves_no_file(ptb: Site, tmp_path: Path) -> None:
    ptb.answers["patient001/s0001_re.dat"].content = CONTENT[::-1]
    with pytest.raises(DataError, match=r"s0001_re\.dat: the content does not have the publisher's checksum"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert list((tmp_path / "ptb" / "patient001").iterdir()) == []


def test_interrupted_fetch_goes_on_in_the_next_run(
    ptb: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "WAITS_S", ())
    ptb.answers["patient001/s0001_re.dat"].break_after = [HALFWAY]
    with pytest.raises(DataError, match=f"{HALFWAY} bytes are kept, run the command again"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    ptb.requests.clear()
    fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert ("patient001/s0001_re.dat", f"bytes={HALFWAY}-") in ptb.requests


def test_lasting_trouble_with_one_file_ends_the_fetch(ptb: Site, tmp_path: Path) -> None:
    del ptb.answers["patient001/s0001_re.dat"]
    with pytest.raises(DataError, match=r"s0001_re\.dat: status 404"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)


def test_list_of_another_place_is_refused(ptb: Site, tmp_path: Path) -> None:
    ptb.answers["SHA256SUMS.txt"].content = f"{checksum(b'')} other.txt\n".encode()
    with pytest.raises(DataError, match="lists none of RECORDS"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)


def test_pinned_list_that_differs_is_refused(site: Site, tmp_path: Path) -> None:
    site.answers["SHA256SUMS.txt"] = Answer(f"{checksum(b'')} RECORDS\n".encode())
    with pytest.raises(
        DataError, match=r"SHA256SUMS\.txt: the content does not have the publisher's checksum"
    ):
        fetch.fetch("sleep-edf", tmp_path, base_address=site.address)


def test_progress_ends_with_all_bytes(ptb: Site, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    fetch.fetch("ptb", tmp_path, base_address=ptb.address, progress=lambda *both: seen.append(both))
    sums = len(ptb.answers["SHA256SUMS.txt"].content)
    assert seen[-1] == (len(CONTENT) + 20 + sums, source_table.source("ptb").n_bytes)


def test_full_disk_is_seen_before_it_starts(
    ptb: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_free_bytes", lambda folder: 1000)
    with pytest.raises(DataError, match=r"about 1\.81 GB are needed and 0\.00 GB are free"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert [path for path, _ in ptb.requests] == ["SHA256SUMS.txt"]


def test_simulated_folder_is_left_alone(ptb: Site, tmp_path: Path) -> None:
    (tmp_path / "ptb").mkdir()
    (tmp_path / "ptb" / "SIMULATED.json").write_text("{}")
    with pytest.raises(DataError, match="holds simulated data"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)
    assert ptb.requests == []


def test_room_for_both_unpackings_is_asked_for(tmp_path: Path) -> None:
    content = source_table.source("uci-har").content
    assert isinstance(content, source_table.Archive)
    found = fetch.plan("uci-har", tmp_path)
    assert found.n_bytes_needed == found.n_bytes + 2 * content.max_bytes


def test_second_fetch_at_once_is_refused(ptb: Site, tmp_path: Path) -> None:
    with fetch._locked(tmp_path, "ptb"), pytest.raises(DataError, match="another fetch of ptb is running"):
        fetch.fetch("ptb", tmp_path, base_address=ptb.address)


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
    done = fetch.fetch("uci-har", tmp_path, base_address=site.address)
    assert done.n_files == 1
    assert done.sha256 == checksum(site.answers[UCI_PATH].content)
    assert (tmp_path / "uci-har/UCI HAR Dataset/test/y_test.txt").read_bytes() == b"1\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["uci-har"]


def test_files_are_taken_from_anywhere_in_an_archive(site: Site, tmp_path: Path) -> None:
    content = {"AD/preproctrials01.mat": b"1", "Healthy/preproctrials02.mat": b"2", "readme.txt": b""}
    site.answers["?zip="] = Answer(zipped(content))
    done = fetch.fetch("apava", tmp_path, base_address=site.address)
    assert sorted(path.name for path in done.folder.iterdir()) == [
        "FETCHED.json",
        "preproctrials01.mat",
        "preproctrials02.mat",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"../../evil.mat": b"1", "preproctrials01.mat": b"2"}), "leads out of the folder"),
        (zipped({"readme.txt": b"1"}), r"no preproctrials\*\.mat in the archive"),
        (zipped({"a/preproctrials01.mat": b"1", "b/preproctrials01.mat": b"2"}), "2 entries named"),
        (b"not an archive at all", "not a zip or tar archive"),
    ],
    ids=["hostile", "other content", "doubled", "no archive"],
)
def test_unusable_archive_leaves_no_dataset(site: Site, tmp_path: Path, content: bytes, message: str) -> None:
    site.answers["?zip="] = Answer(content)
    with pytest.raises(DataError, match=message):
        fetch.fetch("apava", tmp_path / "root", base_address=site.address)
    assert not (tmp_path / "root" / "apava").exists()
    assert not list(tmp_path.rglob("evil.mat"))


def test_archive_that_was_useless_is_not_kept(site: Site, tmp_path: Path) -> None:
    site.answers["?zip="] = Answer(b"not an archive at all")
    with pytest.raises(DataError, match="not a zip or tar archive"):
        fetch.fetch("apava", tmp_path, base_address=site.address)
    site.answers["?zip="] = Answer(zipped({"preproctrials01.mat": b"1"}))
    assert fetch.fetch("apava", tmp_path, base_address=site.address).n_files == 1


def test_archive_does_not_replace_a_folder_with_content(site: Site, tmp_path: Path) -> None:
    (tmp_path / "apava").mkdir()
    (tmp_path / "apava" / "mine.txt").touch()
    with pytest.raises(DataError, match="is not empty"):
        fetch.fetch("apava", tmp_path, base_address=site.address)


def test_table_of_files_is_fetched_with_sizes(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [RemoteFile("a b.set", checksum(CONTENT), len(CONTENT)), RemoteFile("README")]
    monkeypatch.setattr(fetch, "read_table", lambda name: files)
    site.answers = {"a%20b.set": Answer(), "README": Answer(b"text")}
    done = fetch.fetch("adftd", tmp_path, base_address=site.address)
    assert (done.folder / "a b.set").read_bytes() == CONTENT
    assert (done.folder / "README").read_bytes() == b"text"
