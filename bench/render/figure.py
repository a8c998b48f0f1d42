"""A figure of a report: the function that draws it, and its texts."""

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
        Description in words, for readers who cannot see it.
    draw
        Draws it; a module's function with its arguments, so that another process can call it.
    stamp
        Written into the picture, which loses its caption when shared; such as the kind of its data.
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
