"""A server on loopback that can break off, lie about lengths, redirect, and send web pages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 4000  # more than one chunk


@dataclass
class Answer:
    """How the server answers for one path. ``break_after``: bytes sent before it hangs up, request by request."""

    content: bytes = CONTENT
    break_after: list[int] = field(default_factory=list)
    length: int | None = None
    kind: str = "application/octet-stream"
    status: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    without_length: bool = False


class Site:
    """A server with an answer for each path, which notes the paths it is asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.address = ""


def respond(site: Site, handler: BaseHTTPRequestHandler) -> None:
    path = handler.path.removeprefix("/")
    site.requests.append(path)
    answer = site.answers.get(path)
    if answer is None:
        handler.send_error(404)
        return
    handler.send_response(answer.status.pop(0) if answer.status else 200)
    handler.send_header("Content-Type", answer.kind)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    if not answer.without_length:
        length = len(answer.content) if answer.length is None else answer.length
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.wfile.write(answer.content[: answer.break_after.pop(0)] if answer.break_after else answer.content)
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
