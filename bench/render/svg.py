"""Figures inside a page: matplotlib's SVG without file headers, with the page's colours and unique identifiers."""

import re

from markupsafe import Markup, escape

from bench.render import style

SCALE = 1.7
"""Pixels on the page per point on paper, so that 7-point type is readable on a screen."""

_COLOURS = {
    style.INK: "var(--ink)",
    style.FAINT: "var(--faint)",
    style.GRID: "var(--grid)",
    style.BLUE: "var(--blue)",
    style.ORANGE: "var(--orange)",
    style.GREEN: "var(--green)",
    style.PURPLE: "var(--purple)",
}
_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ID = re.compile(r'(?<=\bid=")(?=[^"]+")|(?<=url\(#)|(?<=href="#)')
_DECIMALS = re.compile(r"(?<=\.\d\d)\d+")
_PATH_DATA = re.compile(r'(?<= d=")[^"]*(?=")')


def inline(svg: str, name: str, alt: str) -> Markup:
    """Return the text of an SVG file as an element of a page.

    Parameters
    ----------
    svg
        As `style.save_figure` wrote it; its texts are escaped already.
    name
        Put before all identifiers, which have to be unique on the page.
    alt
        What the figure shows, in words.
    """
    text = _COMMENT.sub("", _METADATA.sub("", _HEAD.sub("", svg)))
    opening, rest = text.split(">", 1)
    view_box = re.search(r'viewBox="[^"]*"', opening)
    assert view_box, f"figure {name}: matplotlib wrote an SVG without a viewBox"
    rest = _PATH_DATA.sub(lambda match: _DECIMALS.sub("", match.group()).replace("\n", ""), rest)
    rest = _ID.sub(f"{name}-", rest)
    for colour, variable in _COLOURS.items():
        rest = rest.replace(colour, variable)
    width = re.search(r'width="([\d.]+)pt"', opening)
    style_text = f"max-width:{float(width.group(1)) * SCALE:.0f}px" if width else ""
    # The name and the texts of the figure are ours; users' texts are in `alt`, and escaped.
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {view_box.group()} '
        f'style="{style_text}" role="img" aria-label="{escape(alt)}">'
    )
    return Markup(head + rest.strip())  # noqa: S704 - escaped above, and by matplotlib


def sparkline(lines: list[list[float]], colours: list[str], width: int = 260, height: int = 64) -> Markup:
    """Return a small line chart without axes, one polyline per list; each is scaled to the common range."""
    values = [value for line in lines for value in line]
    if not values:
        return Markup("")
    low, span = min(values), (max(values) - min(values)) or 1.0
    drawn = []
    for line, colour in zip(lines, colours, strict=True):
        step = (width - 4) / max(len(line) - 1, 1)
        points = " ".join(
            f"{2 + step * number:.1f},{height - 2 - (height - 4) * (value - low) / span:.1f}"
            for number, value in enumerate(line)
        )
        drawn.append(f'<polyline points="{points}" style="stroke:var(--{colour})"/>')
    label = f"curves over {max(map(len, lines))} epochs"
    head = f'<svg class="spark" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    return Markup(f"{head}{''.join(drawn)}</svg>")  # noqa: S704 - numbers and names of ours only
