"""A server on loopback that can break off, lie about lengths, redirect, change its mind, and send web pages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 4000  # more than one chunk
HALFWAY = 20 * 16_384  # whole chunks, so that a break loses nothing


@dataclass
class Answer:
    """How the server answers for one path. ``break_after``: bytes sent before it hangs up, request by request."""

    content: bytes = CONTENT
    break_after: list[int] = field(default_factory=list)
    length: int | None = None
    kind: str = "application/octet-stream"
    status: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    chunked: bool = False
    tags: list[str] = field(default_factory=lambda: ['"1"'])


class Site:
    """A server with an answer for each path, which notes the requests it gets."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.address = ""

    def ranges_asked(self) -> list[str | None]:
        return [asked for _, asked in self.requests]


def respond(site: Site, handler: BaseHTTPRequestHandler) -> None:
    path = handler.path.removeprefix("/")
    asked = handler.headers.get("Range")
    site.requests.append((path, asked))
    answer = site.answers.get(path)
    if answer is None:
        handler.send_error(404)
        return
    status = answer.status.pop(0) if answer.status else 200
    tag = answer.tags.pop(0) if len(answer.tags) > 1 else answer.tags[0]
    body, first = answer.content, 0
    if status == 200 and asked and answer.ranges and handler.headers.get("If-Range", tag) == tag:
        first = int(asked.removeprefix("bytes=").removesuffix("-"))
        status = 206 if first < len(body) else 416
    body = b"" if status == 416 else body[first:]
    handler.send_response(status)
    if status in (206, 416):
        span = f"{first}-{len(answer.content) - 1}" if status == 206 else "*"
        handler.send_header("Content-Range", f"bytes {span}/{len(answer.content)}")
    handler.send_header("Content-Type", answer.kind)
    handler.send_header("ETag", tag)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    if not answer.chunked:
        handler.send_header("Content-Length", str(len(body) if answer.length is None else answer.length))
    handler.end_headers()
    handler.wfile.write(body[: answer.break_after.pop(0)] if answer.break_after else body)
    handler.close_connection = True


@contextmanager
def serving() -> Iterator[Site]:
    """Run a server for the time of a test; nothing is answered until ``answers`` are set."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(site, self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class names it
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
