"""Downloads files with pooch, a few at a time, and refuses answers that are not the file."""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from bench.datasets.fetch.source_table import RemoteFile, is_allowed, is_loopback
from bench.errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from pooch import Pooch
    from requests import Response

CONNECTIONS = 4
RETRIES = 5  # after 1, 2, 3, 4 and 5 seconds, as pooch does it
_TIMEOUT_S = (15.0, 60.0)
_CHUNK_BYTES = 1 << 16
_TRIED_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})

Arrived = Callable[[int], object]


def download(
    files: Mapping[str, RemoteFile], folder: Path, workplace: Path, max_bytes: int, arrived: Arrived
) -> None:
    """Download files, given by full address, into a folder; the first failure stops the others.

    Each is moved there when it is whole and has its checksum; one that is there is replaced. ``workplace`` is a
    folder on the same disk for what is on its way, which the caller removes. ``max_bytes`` bounds files of unknown
    size. ``arrived`` is called with the bytes that came, from any thread; negative where they were of no use.

    Raises
    ------
    DataError
        The server does not have a file or sends something else, or the disk is full.
    """
    for place in {(at / file.path).parent for file in files.values() for at in (workplace, folder)}:
        place.mkdir(parents=True, exist_ok=True)
    store, stop = _store(files, workplace), threading.Event()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        transfers = [_Transfer(*item, max_bytes, arrived, stop) for item in files.items()]
        futures = [pool.submit(_download_file, store, folder, transfer) for transfer in transfers]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _store(files: Mapping[str, RemoteFile], workplace: Path) -> "Pooch":
    import pooch

    # Its notes on where files go are ours to give.
    pooch.get_logger().setLevel("ERROR")
    return pooch.Pooch(
        path=workplace,
        base_url="",
        registry={file.path: file.sha256 for file in files.values()},  # pyright: ignore[reportArgumentType]
        urls={file.path: url for url, file in files.items()},
        retry_if_failed=RETRIES,
    )


def _download_file(store: "Pooch", folder: Path, transfer: "_Transfer") -> None:
    import requests

    url, file = transfer.url, transfer.file
    try:
        Path(store.fetch(file.path, downloader=transfer)).replace(folder / file.path)
    except requests.RequestException as error:
        raise DataError(
            f"{url}: could not be fetched in {1 + RETRIES} attempts ({_innermost(error)}); run the command again "
            "later, or name a mirror with --base-address"
        ) from error
    except ValueError as error:
        raise DataError(
            f"{url}: the content does not have the publisher's checksum {file.sha256}; it was discarded, run again"
        ) from error
    except OSError as error:
        raise DataError(
            f"{folder / file.path}: cannot be written ({error.strerror}); make room and run again"
        ) from error


@dataclass(frozen=True)
class _Transfer:
    """Pooch's own downloader for one file, with checks of the answer and of how much comes."""

    url: str
    file: RemoteFile
    max_bytes: int
    arrived: Arrived
    stop: threading.Event

    def __call__(self, fname: str, action: Any, pooch: object, *, check_only: bool | None = None) -> None:
        """Download the address ``fname`` to the file ``action``; the names are pooch's."""
        from pooch import HTTPDownloader

        del pooch, check_only
        answers: list[Response] = []
        get = HTTPDownloader(
            chunk_size=_CHUNK_BYTES,
            timeout=_TIMEOUT_S,
            headers={"Accept-Encoding": "identity"},
            hooks={"response": [lambda answer, **_: answers.append(answer), self._check]},
        )
        # Pooch's temporary file is for its owner alone; a new one has the permissions of the user's other files.
        Path(action).unlink()
        with _CountedFile(action, self) as content:
            try:
                get(fname, content, None)
            except BaseException:
                self.arrived(-content.n_bytes)
                raise
            finally:
                for answer in answers:
                    answer.close()
            os.fsync(content.fileno())

    def _check(self, response: "Response", **_: object) -> None:
        refusal = self._refusal(response)
        if refusal is not None:
            raise DataError(f"{self.url}: {refusal}; check the address, or name a mirror with --base-address")

    def _refusal(self, response: "Response") -> str | None:
        """Return why an answer is neither the file, nor a redirect to follow, nor passing trouble."""
        status, headers = response.status_code, response.headers
        if status in _TRIED_AGAIN:
            return None
        if response.is_redirect and headers["Location"]:
            target = urljoin(response.url, headers["Location"])
            is_safe = is_allowed(target) and (is_loopback(self.url) or not is_loopback(target))
            return None if is_safe else f"redirected to '{target[:200]}', which is not https"
        if status != 200:
            return f"status {status} {response.reason}"
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            return "sent compressed although asked not to"
        if headers.get("Content-Type", "").lower().startswith("text/html"):
            return "the server answers with a web page, such as a login, not the file"
        announced = headers.get("Content-Length", "")
        if announced.isdigit() and self.file.n_bytes not in (None, int(announced)):
            return f"the server has {announced} bytes, the source table says {self.file.n_bytes}"
        return None


class _CountedFile(BufferedWriter):
    """A new file that counts what is written, refuses too much, and gives up when another file has failed."""

    def __init__(self, path: str, transfer: _Transfer) -> None:
        super().__init__(FileIO(path, "x"))
        self.n_bytes = 0
        self._transfer = transfer

    def write(self, chunk: "ReadableBuffer") -> int:
        """Write a chunk."""
        transfer, n_bytes = self._transfer, len(memoryview(chunk))
        if transfer.stop.is_set():
            raise DataError(f"{transfer.url}: stopped, because another file failed")
        self.n_bytes += n_bytes
        transfer.arrived(n_bytes)
        most = transfer.file.n_bytes or transfer.max_bytes
        if self.n_bytes > most:
            raise DataError(
                f"{transfer.url}: more than the {most} bytes of the source table; check the address"
            )
        return super().write(chunk)


def _innermost(error: BaseException) -> str:
    """Return the first line of what caused an error; requests nests several of them."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
