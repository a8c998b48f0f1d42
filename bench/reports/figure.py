"""A figure of a report: how it is drawn, and the words that go with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.reports.style import figure_style, save_figure

if TYPE_CHECKING:
    import matplotlib.figure


@dataclass(frozen=True)
class Figure:
    """One figure.

    `name` is the stem of its files, `alt` says in words what it shows to who cannot see it, `draw` makes it.
    """

    name: str
    title: str
    caption: str
    alt: str
    draw: Callable[[], "matplotlib.figure.Figure"]

    def write(self, folder: Path) -> list[Path]:
        """Draw the figure and write it as PDF, SVG and PNG."""
        with figure_style():
            figure = self.draw()
        return save_figure(figure, folder, self.name)
