"""A parser of report pages for tests: elements, identifiers and visible text, without a browser."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Page:
    """What a page is made of."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def parse(cls, html: str) -> "Page":
        """Parse a page."""
        parser = _Parser()
        parser.feed(html)
        return cls(parser.elements, parser.texts)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements with a tag."""
        return [attributes for name, attributes in self.elements if name == tag]

    def text_in(self, tag: str) -> list[str]:
        """Return the texts directly inside elements with a tag."""
        return [text for name, text in self.texts if name == tag]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open, data.strip()))
