"""What each part of MedMamba adds: seed-wise differences of the reduced models to the full one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.reports import style
from bench.reports.figure import Figure
from bench.reports.table import Row, Table

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_FORMS = ("o", "s", "^", "D", "v", "P")


def ablation_figure(table: Table, name: str) -> Figure | None:
    """Return the figure of an ablation table, or None where nothing is paired."""
    block = next(block for block in table.blocks if "difference" in block.heading)
    rows = [row for row in block.rows if any(cell.mean is not None for cell in row.cells)]
    if not rows:
        return None
    return Figure(
        name=name,
        title=table.title,
        caption=f"Reduced minus full model, mean and standard deviation over seeds, percentage points. {table.caption}",
        alt=(
            f"{table.title}: difference of each reduced model to the full one. F1: "
            + ", ".join(f"{row.label} {_f1(table, row):+.1f}" for row in rows)
            + " points."
        ),
        draw=lambda: draw(rows, table.columns),
    )


def draw(rows: Sequence[Row], columns: Sequence[str]) -> "matplotlib.figure.Figure":
    """Draw one line of dots per metric."""
    figure = style.new_figure(style.PAGE_IN, 0.9 + 0.3 * len(columns))
    draw_axes(rows, columns, figure.subplots())
    return figure


def draw_axes(rows: Sequence[Row], columns: Sequence[str], axes: "Axes") -> None:
    """Draw the differences; zero is the full model."""
    colours = (style.BLUE, style.ORANGE, style.GREEN)
    axes.axvline(0, color=style.INK, linewidth=0.9)
    for number, row in enumerate(rows):
        shift = 0.24 * (number - (len(rows) - 1) / 2)
        found = [(line, cell) for line, cell in enumerate(row.cells) if cell.mean is not None]
        axes.errorbar(
            [cell.mean or 0.0 for _, cell in found], [line + shift for line, _ in found],
            xerr=[cell.std or 0.0 for _, cell in found], fmt=_FORMS[number % len(_FORMS)],
            color=colours[number % len(colours)], elinewidth=1, label=row.label,
        )  # fmt: skip
    axes.set_yticks(range(len(columns)), columns)
    axes.set_ylim(len(columns) - 0.4, -0.6)
    axes.set_xlabel("reduced minus full model (percentage points)")
    axes.grid(axis="y", visible=False)
    axes.figure.legend(loc="outside lower center", ncols=3)


def _f1(table: Table, row: Row) -> float:
    return row.cells[table.columns.index("F1")].mean or 0.0
