"""One download: resumed when it breaks off, refused when what comes is not the file."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests

from bench.datasets.fetch import download
from bench.errors import DataError
from tests.datasets.loopback_server import CONTENT, HALFWAY, Answer, Site, serving

PAGE = b"\n<!DOCTYPE html><html><body>Please log in</body></html>"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as site:
        yield site


@dataclass
class Download:
    """One download into a folder, with the waits and positions it reported."""

    site: Site
    folder: Path
    waits: list[float] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    @property
    def part(self) -> Path:
        return self.folder / "file.part"

    def __call__(self, path: str = "file", *, n_bytes: int | None = None, trust_part: bool = False) -> bytes:
        with requests.Session() as session:
            downloader = download.ResumingDownloader(
                session,
                self.part,
                n_bytes=n_bytes,
                trust_part=trust_part,
                on_position=self.positions.append,
                wait=self.waits.append,
            )
            downloader(f"{self.site.address}{path}", str(self.folder / "whole"))
        return (self.folder / "whole").read_bytes()


@pytest.fixture
def get(site: Site, tmp_path: Path) -> Download:
    return Download(site, tmp_path)


def test_whole_file_arrives(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    assert get() == CONTENT
    assert get.positions[-1] == len(CONTENT)
    assert not get.part.exists()


def test_broken_connection_is_resumed_where_it_broke(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(break_after=[HALFWAY, 2 * HALFWAY])
    assert get() == CONTENT
    first, second, third = site.ranges_asked()
    assert (first, third) == (None, f"bytes={3 * HALFWAY}-")
    assert second == f"bytes={HALFWAY}-"


def test_waits_grow_while_there_is_no_progress(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(break_after=[0] * 6)
    with pytest.raises(DataError, match="6 times without progress"):
        get()
    assert get.waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_progress_starts_the_waits_anew(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(break_after=[0, 0, HALFWAY, 0, 0, 0, 0])
    assert get() == CONTENT
    assert get.waits == [1.0, 2.0, 1.0, 2.0, 4.0, 8.0, 16.0]


def test_server_without_ranges_starts_over(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(break_after=[HALFWAY], ranges=False)
    assert get() == CONTENT


def test_file_that_changes_meanwhile_is_not_spliced(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(break_after=[HALFWAY], tags=['"1"', '"2"'])
    assert get() == CONTENT
    assert get.positions.index(HALFWAY) < len(get.positions) - 1
    assert get.positions[get.positions.index(HALFWAY) + 1] < HALFWAY


def test_part_of_an_earlier_run_is_used_where_a_checksum_follows(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    get.part.write_bytes(CONTENT[:1000])
    assert get(trust_part=True) == CONTENT
    assert site.ranges_asked() == ["bytes=1000-"]


def test_part_of_an_earlier_run_is_dropped_without_checksum(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    get.part.write_bytes(b"something else")
    assert get() == CONTENT
    assert site.ranges_asked() == [None]


def test_part_that_is_whole_already_is_taken(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    get.part.write_bytes(CONTENT)
    assert get(trust_part=True) == CONTENT


def test_part_that_is_too_long_is_dropped(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    get.part.write_bytes(CONTENT + b"more")
    assert get(trust_part=True) == CONTENT


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_trouble_is_tried_again(site: Site, get: Download, status: int) -> None:
    site.answers["file"] = Answer(status=[status, status])
    assert get() == CONTENT
    assert get.waits == [1.0, 2.0]


def test_wait_that_the_server_asks_for_is_kept(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(status=[503], headers={"Retry-After": "7"})
    get()
    assert get.waits == [7]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_lasting_trouble_is_reported_at_once(site: Site, get: Download, status: int) -> None:
    site.answers["file"] = Answer(status=[status])
    with pytest.raises(DataError, match=f"status {status}"):
        get()
    assert get.waits == []


def test_page_with_status_200_is_not_the_file(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(content=PAGE, kind="text/html; charset=utf-8")
    with pytest.raises(DataError, match="answers with a web page"):
        get()


def test_page_in_disguise_is_not_the_file(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(content=PAGE)
    with pytest.raises(DataError, match="the content is a web page"):
        get()


def test_announced_length_that_never_comes_is_named(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(content=b"short", length=1000, ranges=False)
    with pytest.raises(DataError, match="without progress"):
        get()


def test_length_other_than_the_known_one_is_refused(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(length=1000)
    with pytest.raises(DataError, match="the server has 1000 bytes, the source table says 1024000"):
        get(n_bytes=len(CONTENT))


def test_more_than_the_known_length_is_refused(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(chunked=True)
    with pytest.raises(DataError, match="more than the 1000 bytes"):
        get(n_bytes=1000)


def test_stream_of_unknown_length_is_taken_to_its_end(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(chunked=True)
    assert get() == CONTENT


def test_content_that_is_compressed_unasked_is_refused(site: Site, get: Download) -> None:
    site.answers["file"] = Answer(headers={"Content-Encoding": "gzip"})
    with pytest.raises(DataError, match="sent compressed"):
        get()


def test_redirect_within_this_machine_is_followed(site: Site, get: Download) -> None:
    site.answers["old"] = Answer(status=[302], headers={"Location": "/file"})
    site.answers["file"] = Answer()
    assert get("old") == CONTENT


@pytest.mark.parametrize(
    "target", ["http://example.org/file", "ftp://example.org/file", "file:///etc/passwd", ""]
)
def test_redirect_to_anything_but_https_is_not_followed(site: Site, get: Download, target: str) -> None:
    site.answers["file"] = Answer(status=[302] * 10, headers={"Location": target})
    with pytest.raises(DataError, match=r"not followed|redirected more than 5 times"):
        get()


def test_nobody_listening_is_reported_after_some_tries(get: Download, site: Site) -> None:
    site.address = "http://127.0.0.1:9/"
    with pytest.raises(DataError, match=r"connection broken.*6 times without progress"):
        get()


def test_stopped_download_keeps_its_part(site: Site, get: Download) -> None:
    site.answers["file"] = Answer()
    stop = threading.Event()
    with requests.Session() as session:
        downloader = download.ResumingDownloader(
            session, get.part, on_position=lambda position: stop.set(), stop=stop, wait=get.waits.append
        )
        with pytest.raises(download.StoppedError):
            downloader(f"{site.address}file", str(get.folder / "whole"))
    assert 0 < get.part.stat().st_size < len(CONTENT)
    assert not (get.folder / "whole").exists()
