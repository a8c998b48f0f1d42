"""Downloads one file for pooch: resumed after a break, and refused when the server's answer is not the file."""

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from bench.datasets.fetch.source_table import is_allowed, is_loopback
from bench.errors import DataError

if TYPE_CHECKING:
    from requests import Response, Session

WAITS_S = (1.0, 2.0, 4.0, 8.0, 16.0)
TIMEOUT_S = (15.0, 60.0)
# What a break in the middle of a chunk loses, at most.
_CHUNK_BYTES = 1 << 14
_MOST_REDIRECTS = 5
_LONGEST_WAIT_S = 120
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
_PAGE = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)


class _BrokenOffError(Exception):
    """The transfer broke off and may be tried again, after ``wait_s`` if the server says so."""

    def __init__(self, reason: str, wait_s: float | None = None):
        super().__init__(reason)
        self.wait_s = wait_s


class StoppedError(Exception):
    """Another file's download has failed, so this one is given up."""


@dataclass
class ResumingDownloader:
    """A downloader for ``pooch.retrieve``, for one file.

    What has arrived is kept in ``part`` until it is whole. A next run goes on from there if ``trust_part``, which
    is right where a checksum will be compared; within a run, a validator of the server (ETag, date) sees to it
    that the pieces are of one file.

    Parameters
    ----------
    session
        Session of requests, one for each thread.
    part
        File for what has arrived so far.
    n_bytes
        Size where it is known beforehand, else None.
    trust_part
        Whether to go on with a part that an earlier run left.
    on_position
        Called with the number of bytes that have arrived.
    stop
        Set by others to give up.
    wait
        Sleeps the given seconds between attempts.
    """

    session: "Session"
    part: Path
    n_bytes: int | None = None
    trust_part: bool = False
    on_position: Callable[[int], None] = lambda position: None
    stop: threading.Event = field(default_factory=threading.Event)
    wait: Callable[[float], object] = time.sleep
    _validator: str | None = field(default=None, init=False)

    def __call__(
        self, fname: str, action: Any, pooch: object = None, *, check_only: bool | None = None
    ) -> None:
        """Download the address ``fname`` and move it, whole, to the file ``action``; the names are pooch's.

        Raises
        ------
        DataError
            The server does not have the file, sends something else, or keeps breaking off.
        StoppedError
            ``stop`` was set.
        """
        del pooch, check_only
        url = fname
        if not self.trust_part:
            self.part.unlink(missing_ok=True)
        failures, furthest = 0, self._position()
        while True:
            if self.stop.is_set():
                raise StoppedError
            try:
                self._attempt(url)
                break
            except _BrokenOffError as error:
                failures = 1 if self._position() > furthest else failures + 1
                furthest = max(furthest, self._position())
                if failures > len(WAITS_S):
                    raise DataError(
                        f"{url}: {error}, {failures} times without progress; {self._position()} bytes are kept, "
                        "run the command again later"
                    ) from error
                self.wait(error.wait_s or WAITS_S[failures - 1])
        self.part.replace(action)

    def _position(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self, url: str) -> None:
        import requests

        try:
            with self._open(url, self._position()) as response:
                if response.status_code == 416 and self._is_whole(response):
                    return
                start, total = self._checked(url, response)
                self._receive(url, response, start, total)
        except requests.exceptions.SSLError as error:
            raise DataError(f"{url}: the server's certificate is not accepted ({error})") from error
        except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
            raise _BrokenOffError(f"connection broken ({_innermost(error)})") from error
        except requests.exceptions.ChunkedEncodingError as error:
            raise _BrokenOffError(f"connection broken ({_innermost(error)})") from error
        except requests.exceptions.RequestException as error:
            raise DataError(f"{url}: cannot be fetched ({error})") from error

    def _open(self, url: str, position: int) -> "Response":
        """Send the request, following redirects only to where we would go ourselves."""
        headers = {"Accept-Encoding": "identity"}
        if position:
            headers["Range"] = f"bytes={position}-"
            if self._validator:
                headers["If-Range"] = self._validator
        target = url
        for _ in range(_MOST_REDIRECTS + 1):
            response = self.session.get(
                target, headers=headers, stream=True, timeout=TIMEOUT_S, allow_redirects=False
            )
            if response.status_code not in _REDIRECTS:
                return response
            response.close()
            target = urljoin(target, response.headers.get("Location", ""))
            if not is_allowed(target) or (is_loopback(target) and not is_loopback(url)):
                raise DataError(f"{url}: redirected to '{target[:200]}', which is not https; not followed")
        raise DataError(f"{url}: redirected more than {_MOST_REDIRECTS} times")

    def _checked(self, url: str, response: "Response") -> tuple[int, int | None]:
        """Return at which byte the answer starts and the file's whole size, if the answer is the file at all."""
        status = response.status_code
        if status in _RETRIED:
            asked = response.headers.get("Retry-After", "")
            raise _BrokenOffError(
                f"status {status}", min(int(asked), _LONGEST_WAIT_S) if asked.isdigit() else None
            )
        if status == 416:
            # The part is longer than the file, or another file's.
            self.part.unlink(missing_ok=True)
            raise _BrokenOffError("status 416, the part that was kept does not fit")
        if status not in (200, 206):
            raise DataError(f"{url}: status {status} {response.reason}; check the address, or --base-address")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise DataError(f"{url}: sent compressed although asked not to; use another mirror")
        is_page = response.headers.get("Content-Type", "").lower().startswith("text/html")
        if is_page and not url.endswith((".html", ".htm")):
            raise DataError(
                f"{url}: the server answers with a web page, not the file; a login, or a wrong address"
            )
        start, total = self._extent(url, response)
        if total is not None and self.n_bytes is not None and total != self.n_bytes:
            raise DataError(f"{url}: the server has {total} bytes, the source table says {self.n_bytes}")
        self._validator = _strong_validator(response)
        return start, total if total is not None else self.n_bytes

    def _extent(self, url: str, response: "Response") -> tuple[int, int | None]:
        if response.status_code == 200:
            length = response.headers.get("Content-Length", "")
            return 0, int(length) if length.isdigit() else None
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if not match or match[1] is None or int(match[1]) != self._position():
            self.part.unlink(missing_ok=True)
            given = response.headers.get("Content-Range")
            raise _BrokenOffError(f"{url}: a part was asked for, '{given}' was sent")
        return int(match[1]), None if match[2] == "*" else int(match[2])

    def _is_whole(self, response: "Response") -> bool:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        return match is not None and match[2] == str(self._position())

    def _receive(self, url: str, response: "Response", start: int, total: int | None) -> None:
        position = start
        with self.part.open("r+b" if start else "wb") as file:
            file.seek(start)
            for chunk in response.iter_content(_CHUNK_BYTES):
                if self.stop.is_set():
                    raise StoppedError
                if position == 0 and _PAGE.match(chunk) and not url.endswith((".html", ".htm")):
                    raise DataError(
                        f"{url}: the content is a web page, not the file; a login, or an error page"
                    )
                _write(file.write, chunk, self.part)
                position += len(chunk)
                if total is not None and position > total:
                    raise DataError(
                        f"{url}: more than the {total} bytes announced; the server is not reliable"
                    )
                self.on_position(position)
            file.flush()
            os.fsync(file.fileno())
        if total is not None and position < total:
            raise _BrokenOffError(f"only {position} of {total} bytes arrived")


def _write(write: Callable[[bytes], object], chunk: bytes, path: Path) -> None:
    try:
        write(chunk)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}); make room and run again") from error


def _strong_validator(response: "Response") -> str | None:
    tag = response.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _innermost(error: BaseException) -> str:
    """Return the first line of what caused an error; requests nests several of them."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
