"""A figure of a report: how it is drawn, and the words that go with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.render.style import figure_style, save_figure

if TYPE_CHECKING:
    import matplotlib.figure


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes
    ----------
    name
        Stem of its files.
    alt
        What it shows, in words, for who cannot see it.
    draw
        Makes it; a function of a module with its arguments, so that another process can do it.
    stamp
        Written into the picture itself, which loses its caption when it is passed on; such as what data it shows.
    """

    name: str
    title: str
    caption: str
    alt: str
    draw: Callable[[], "matplotlib.figure.Figure"]
    stamp: str = ""

    def write(self, folder: Path) -> list[Path]:
        """Draw the figure and write it as PDF, SVG and PNG."""
        with figure_style():
            figure = self.draw()
        return save_figure(figure, folder, self.name, self.stamp)
