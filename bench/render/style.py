"""The common style of all figures, and their files: PDF, SVG and PNG with the same bytes every time.

Colours are of Okabe and Ito's palette, which stays distinct for colour-blind readers; lines and markers differ in
form too, so that figures survive a grey printer. Sizes are those of a two-column IEEE paper.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bench.files import atomic_file
from bench.render import fonts

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

COLUMN_IN, PAGE_IN = 3.5, 7.16
"""Widths of a column and of a page, in inches."""

BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
INK, FAINT, GRID = "#24292f", "#6e7781", "#d8dee4"
"""Text and axes, less important text and marks, grid lines: the page recolours these for a dark screen."""

OURS, RIVAL, OTHERS = BLUE, ORANGE, "#8c959f"
"""Colours of MedMamba, of its best rival if singled out, and of other models."""

BASE_PT, SMALL_PT = 7.0, 6.5
"""Type sizes: of labels, and of texts inside axes and legends."""

PNG_DPI = 160

STAMP_IN = 0.18
"""Height of the strip for a figure's stamp."""

_SETTINGS: dict[str, Any] = {
    "font.family": [fonts.REDUCED, fonts.WHOLE],
    "font.size": BASE_PT,
    "axes.titlesize": 8,
    "axes.labelsize": BASE_PT,
    "xtick.labelsize": SMALL_PT,
    "ytick.labelsize": SMALL_PT,
    "legend.fontsize": SMALL_PT,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.dpi": PNG_DPI,
    "svg.fonttype": "none",
    "svg.hashsalt": "medmamba-bench",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "axes.unicode_minus": False,  # a minus sign of its own would embed the font once more in a PDF
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw with this style inside the block, independent of the user's matplotlib settings."""
    import matplotlib as mpl

    fonts.use_reduced_fonts()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast("Any", _SETTINGS))
        yield


def new_figure(width_in: float, height_in: float) -> "Figure":
    """Return an empty figure outside pyplot's windows and global state; call it inside `figure_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def label_log_axis(axis: "Axis") -> None:
    """Label a logarithmic axis with plain numbers; matplotlib itself would write formulas, not set in this style."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def save_figure(figure: "Figure", folder: Path, name: str, stamp: str = "") -> list[Path]:
    """Write a figure as PDF, SVG and PNG without dates; return their paths in this order.

    `stamp` is written above the figure, on an added strip, so that figures need no room for it.
    """
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
    }
    paths = []
    with figure_style():
        _lay_out_once(figure)
        area = _stamped(figure, stamp) if stamp else None
        for suffix, fields in metadata.items():
            buffer = io.BytesIO()
            background = "white" if suffix == "png" else "none"
            figure.savefig(buffer, format=suffix, metadata=fields, facecolor=background, bbox_inches=area)
            with atomic_file(folder / f"{name}.{suffix}") as temporary:
                temporary.write_bytes(buffer.getvalue())
            paths.append(folder / f"{name}.{suffix}")
    return paths


def _stamped(figure: "Figure", stamp: str) -> "Bbox":
    """Write the stamp above a figure whose layout is final; return the area to save, in inches."""
    from matplotlib.transforms import Bbox

    width, height = figure.get_size_inches()
    middle = 1 + STAMP_IN / 2 / height
    # Not in bold: every figure's PDF would embed a second font for it.
    figure.text(0.5, middle, stamp, ha="center", va="center", fontsize=BASE_PT, color=INK)
    return Bbox([[0, 0], [width, height + STAMP_IN]])


def _lay_out_once(figure: "Figure") -> None:
    """Fix the layout, so that the three files agree and matplotlib does not draw each of them twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        # "none" would leave a placeholder, which draws each file twice; None follows the style, which has no engine.
        figure.set_layout_engine(None)
