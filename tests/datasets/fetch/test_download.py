"""Downloads: tried again when they break off, refused when what comes is not the file."""

import hashlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.datasets.fetch import download
from bench.datasets.fetch.source_table import RemoteFile
from bench.errors import DataError
from tests.datasets.loopback_server import CONTENT, Answer, Site

CHECKSUM = hashlib.sha256(CONTENT).hexdigest()
ATTEMPTS = 1 + download.RETRIES


@dataclass
class Download:
    """One download into a folder, with the counts of bytes it reported."""

    site: Site
    root: Path
    counts: list[int] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "folder"

    def __call__(
        self,
        path: str = "file",
        *,
        sha256: str | None = None,
        n_bytes: int | None = None,
        max_bytes: int = 10**9,
    ) -> bytes:
        files = {f"{self.site.address}{path}": RemoteFile("sub/file", sha256, n_bytes)}
        download.download(files, self.folder, self.root / "workplace", max_bytes, self.counts.append)
        return (self.folder / "sub" / "file").read_bytes()

    def left(self) -> list[Path]:
        return [path for path in self.root.rglob("*") if path.is_file()]


@pytest.fixture
def get(site: Site, tmp_path: Path) -> Download:
    return Download(site, tmp_path)


def test_whole_file_arrives(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    assert get(sha256=CHECKSUM, n_bytes=len(CONTENT)) == CONTENT
    assert sum(get.counts) == len(CONTENT)
    assert get.left() == [get.folder / "sub" / "file"]


def test_file_has_the_permissions_of_the_user_s_others(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    before = os.umask(0o022)
    try:
        get()
    finally:
        os.umask(before)
    assert (get.folder / "sub" / "file").stat().st_mode & 0o777 == 0o644


def test_broken_connection_is_tried_again_from_the_start(
    site: Site, get: Download, waits: list[float]
) -> None:
    site.answers["file"] = Answer(break_after=[0, 300_000])
    assert get() == CONTENT
    assert waits == [1, 2]
    assert sum(get.counts) == len(CONTENT)


def test_waits_grow_and_end(site: Site, get: Download, waits: list[float]) -> None:
    site.answers["file"] = Answer(break_after=[300_000] * ATTEMPTS)
    with pytest.raises(DataError, match=r"/file: could not be fetched in 6 attempts .*run the command again"):
        get()
    assert waits == [1, 2, 3, 4, 5]
    assert get.left() == []
    assert sum(get.counts) == 0


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_trouble_is_tried_again(site: Site, get: Download, waits: list[float], status: int) -> None:
    site.answers["file"] = Answer(status=[status, status])
    assert get() == CONTENT
    assert waits == [1, 2]


@pytest.mark.parametrize("status", [206, 302, 400, 401, 403, 404, 410, 451])
def test_lasting_trouble_is_reported_at_once(
    site: Site, get: Download, waits: list[float], status: int
) -> None:
    site.answers["file"] = Answer(status=[status])
    with pytest.raises(DataError, match=f"/file: status {status} .*--base-address"):
        get()
    assert waits == []
    assert get.left() == []


def test_wrong_content_is_discarded(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(CONTENT[::-1])
    with pytest.raises(
        DataError, match=f"/file: the content does not have the publisher's checksum {CHECKSUM}"
    ):
        get(sha256=CHECKSUM)
    assert get.left() == []


def test_page_with_status_200_is_not_the_file(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(content=b"<html>Please log in</html>", kind="text/html; charset=utf-8")
    with pytest.raises(DataError, match="answers with a web page"):
        get()


def test_announced_length_that_never_comes_is_named(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(content=b"short", length=1000)
    with pytest.raises(DataError, match=r"in 6 attempts .*more expected"):
        get()
    assert get.left() == []


def test_length_other_than_the_known_one_is_refused(site: Site, get: Download, waits: list[float]) -> None:
    site.answers["file"] = Answer(length=1000)
    with pytest.raises(DataError, match="the server has 1000 bytes, the source table says 1024000"):
        get(n_bytes=len(CONTENT))
    assert waits == []


@pytest.mark.parametrize(("n_bytes", "max_bytes"), [(1000, 10**9), (None, 1000)])
@pytest.mark.parametrize("without_length", [True, False])
def test_more_than_the_bound_is_refused(
    site: Site, get: Download, n_bytes: int | None, max_bytes: int, without_length: bool
) -> None:
    site.answers["file"] = Answer(without_length=without_length)
    with pytest.raises(DataError, match=r"more than the 1000 bytes|source table says 1000"):
        get(n_bytes=n_bytes, max_bytes=max_bytes)
    assert get.left() == []


def test_stream_of_unknown_length_is_taken_to_its_end(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(without_length=True)
    assert get(max_bytes=len(CONTENT)) == CONTENT


def test_content_that_is_compressed_unasked_is_refused(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(headers={"Content-Encoding": "gzip"})
    with pytest.raises(DataError, match="sent compressed"):
        get()


def test_redirect_within_this_machine_is_followed(site: Site, get: Download) -> None:
    site.answers["old"] = Answer(status=[302], headers={"Location": "/file"})
    site.answers["file"] = Answer()
    assert get("old") == CONTENT


@pytest.mark.parametrize(
    "target",
    ["http://example.org/file", "//example.org/file", "ftp://example.org/file", "file:///etc/passwd"],
)
def test_redirect_to_anything_but_https_is_not_followed(
    site: Site, get: Download, waits: list[float], target: str
) -> None:
    site.answers["file"] = Answer(status=[302], headers={"Location": target})
    with pytest.raises(DataError, match=r"redirected to '.*', which is not https"):
        get()
    assert waits == []


def test_redirects_in_a_circle_end(site: Site, get: Download, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "RETRIES", 0)
    site.answers["file"] = Answer(status=[302] * 1000, headers={"Location": "/file"})
    with pytest.raises(DataError, match="redirects"):
        get()


def test_nobody_listening_is_reported_after_some_tries(get: Download, site: Site, waits: list[float]) -> None:
    site.address = "http://127.0.0.1:9/"
    with pytest.raises(DataError, match=r"127\.0\.0\.1:9/file: could not be fetched in 6 attempts .*refused"):
        get()
    assert waits == [1, 2, 3, 4, 5]


def test_failure_of_a_file_gives_up_those_on_their_way(site: Site, get: Download) -> None:
    site.answers["good"] = Answer()

    def slowly(count: int) -> None:
        # The connections answer at once; the failure is seen long before the last of sixteen chunks.
        time.sleep(0.2 if "none" in site.requests else 0.02)

    files = {f"{site.address}{name}": RemoteFile(name) for name in ("good", "none")}
    with pytest.raises(DataError, match="/none: status 404"):
        download.download(files, get.folder, get.root / "workplace", 10**9, slowly)
    assert get.left() == []


def test_failure_of_a_file_cancels_those_that_wait(
    site: Site, get: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "CONNECTIONS", 1)
    names = ["none", *(f"good{number}" for number in range(200))]
    site.answers = {name: Answer(b"1") for name in names[1:]}
    files = {f"{site.address}{name}": RemoteFile(name) for name in names}
    with pytest.raises(DataError, match="/none: status 404"):
        download.download(files, get.folder, get.root / "workplace", 10**9, get.counts.append)
    assert site.requests[0] == "none"
    assert len(site.requests) < len(names)
