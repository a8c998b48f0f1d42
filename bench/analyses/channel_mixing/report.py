"""The report on channel mixing: correlations within classes and distances between them, before and after the layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.analyses.cells_caption import cells_caption
from bench.analyses.channel_mixing.record import NAME, BeforeAfter, ChannelMixingRecord, SeedMixing
from bench.analyses.contract import Shown
from bench.paper.claims import text_claims
from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Row, Table
from bench.stats.summary import over_seeds
from bench.studies import kinds
from bench.studies.caption import spread

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

PAPER_DATASET = "adftd"
PAPER_CLASSES = {"ad": "Alzheimer's disease", "ftd": "frontotemporal dementia", "cn": "control"}
_SHORT_CLASSES = {name: short.upper() for short, name in PAPER_CLASSES.items()}
_TINY = 0.05
"""Relative changes of correlations smaller than this are marked, since they divide by a number near zero."""


@dataclass(frozen=True)
class Line:
    """One class or pair of classes over the seeds.

    The two sides of the trained layer and of the untrained one, and the change that the paper printed, in percent.
    """

    classes: tuple[str, ...]
    sides: tuple[BeforeAfter, ...]
    untrained: tuple[BeforeAfter, ...]
    published: float | None = None

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return " - ".join(map(_short, self.classes))

    @property
    def before(self) -> tuple[float, float | None] | None:
        """Mean and deviation before the layer."""
        return over_seeds([side.before for side in self.sides])

    @property
    def after(self) -> tuple[float, float | None] | None:
        """Mean and deviation after the layer."""
        return over_seeds([side.after for side in self.sides])

    @property
    def change(self) -> tuple[float, float | None] | None:
        """Mean and deviation of the relative change of each seed, in percent."""
        return over_seeds([side.change_percent for side in self.sides])

    @property
    def untrained_change(self) -> tuple[float, float | None] | None:
        """The relative change that the untrained layer makes, mean and deviation in percent."""
        return over_seeds([seed.change_percent for seed in self.untrained])

    @property
    def known_changes(self) -> list[float]:
        """The relative change of each seed that has one, in percent."""
        return [change for side in self.sides if (change := side.change_percent) is not None]

    @property
    def n_lower(self) -> int:
        """Number of seeds in which the layer lowers the number."""
        return sum(change < 0 for change in self.known_changes)


def report(_out: Path, records: Sequence[ChannelMixingRecord]) -> Shown:
    """Return a table and a figure for each model on each dataset."""
    return Shown([mixing_table(record) for record in records], [mixing_figure(record) for record in records])


def correlation_lines(
    record: ChannelMixingRecord, kind: Literal["signed", "absolute"] = "signed"
) -> list[Line]:
    """Return one line per class; the paper's numbers stand beside correlations with their signs."""
    published = _published(record.cells.dataset) if kind == "signed" else {}

    def sides(seeds: Sequence[SeedMixing], number: int) -> tuple[BeforeAfter, ...]:
        return tuple(getattr(seed.correlations[number], kind) for seed in seeds)

    return [
        Line(
            classes=(correlation.class_name,),
            sides=sides(record.seeds, number),
            untrained=sides(record.untrained, number),
            published=published.get(frozenset([correlation.class_name])),
        )
        for number, correlation in enumerate(record.seeds[0].correlations)
    ]


def distance_lines(record: ChannelMixingRecord) -> list[Line]:
    """Return one line per pair of classes."""
    published = _published(record.cells.dataset)
    return [
        Line(
            classes=(distance.first, distance.second),
            sides=tuple(seed.distances[number].norm for seed in record.seeds),
            untrained=tuple(seed.distances[number].norm for seed in record.untrained),
            published=published.get(frozenset([distance.first, distance.second])),
        )
        for number, distance in enumerate(record.seeds[0].distances)
    ]


def mixing_table(record: ChannelMixingRecord) -> Table:
    """Return correlations within classes and distances between them, before and after the layer."""
    name = f"{NAME}-{record.cells.dataset}-{record.cells.model}"
    lines = {
        "within a class: mean correlation of pairs of channels": correlation_lines(record),
        "the same without signs": correlation_lines(record, "absolute"),
        "between classes: Frobenius norm of the difference of correlation matrices": distance_lines(record),
    }
    return Table(
        name=name,
        title=f"{short_name(record.cells.dataset)}: what channel mixing does to the correlations of channels",
        columns=("before", "after", "change", "seeds lower", "change, untrained", "published change"),
        blocks=tuple(Block(heading, tuple(map(_row, found))) for heading, found in lines.items()),
        caption=_caption(record),
        footnotes=tuple(_footnotes(record, lines.values())),
        corner="Class",
        unit="value",
        digits=3,
    )


def mixing_figure(record: ChannelMixingRecord) -> Figure:
    """Return the paper's two panels."""
    within, between = correlation_lines(record), distance_lines(record)
    lower = sum(0 < line.n_lower == len(line.known_changes) for line in within)
    known = [line for line in between if line.known_changes]
    higher = sum(line.n_lower == 0 for line in known)
    return Figure(
        name=f"{NAME}-{record.cells.dataset}-{record.cells.model}",
        title=f"{short_name(record.cells.dataset)}: effect of channel mixing",
        caption=(
            "Left: mean correlation of pairs of channels within each class. Right: Frobenius norm of the difference "
            f"between the mean correlation matrices of two classes. Percentages: relative change. {_caption(record)}"
        ),
        alt=(
            f"Bars before and after channel mixing. In every seed the mean correlation falls in {lower} of "
            f"{len(within)} classes, and the distance does not fall in {higher} of {len(known)} pairs of classes."
        ),
        draw=partial(draw, within, between),
        stamp=kinds.data_stamp(short_name(record.cells.dataset), record.cells.data),
    )


def draw(within: Sequence[Line], between: Sequence[Line]) -> "matplotlib.figure.Figure":
    """Draw both panels."""
    height = 0.9 + 0.26 * max(len(within), len(between))
    figure = style.new_figure(style.PAGE_IN, height)
    axes = figure.subplots(1, 2)
    draw_panel(within, axes[0], "mean correlation within the class")
    draw_panel(between, axes[1], "Frobenius norm between classes")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_panel(lines: Sequence[Line], axes: "Axes", title: str) -> None:
    """Draw pairs of bars from the top down, with the relative change at their ends."""
    height = 0.38
    ends = [0.0]
    for row, line in enumerate(lines):
        if line.before is None or line.after is None:
            continue
        once = "" if row == 0 else "_"
        after, std = line.after
        axes.barh(row - height / 2, line.before[0], height, color=style.OTHERS, label=f"{once}before mixing")
        axes.barh(
            row + height / 2, after, height, xerr=std, color=style.OURS, label=f"{once}after mixing",
            error_kw={"elinewidth": 0.8, "ecolor": style.INK},
        )  # fmt: skip
        end = max(line.before[0], after + (std or 0.0), 0.0)
        ends.extend([end, min(line.before[0], after)])
        axes.annotate(
            _percent(line.change), (end, row), xytext=(3, 0), textcoords="offset points", va="center",
            fontsize=style.SMALL_PT,
        )  # fmt: skip
    width = max(ends) - min(ends) or 1.0
    axes.set_xlim(min(ends) - (0.05 * width if min(ends) < 0 else 0), max(ends) + 0.3 * width)
    axes.set_yticks(range(len(lines)), [line.label for line in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_title(title)
    axes.grid(axis="y", visible=False)


def _row(line: Line) -> Row:
    before, after, n_known = line.before, line.after, len(line.known_changes)
    cells = (
        Cell(before[0]) if before else Cell(),
        Cell(*after) if after else Cell(),
        Cell(*line.change, text=_percent(line.change)) if line.change else Cell(),
        Cell(line.n_lower, text=f"{line.n_lower} of {n_known}") if n_known else Cell(),
        Cell(*line.untrained_change, text=_percent(line.untrained_change))
        if line.untrained_change
        else Cell(),
        Cell() if line.published is None else Cell(line.published, text=f"{line.published:+.1f} %"),
    )
    return Row(line.label, cells)


def _percent(change: tuple[float, float | None] | None) -> str:
    if change is None:
        return "--"
    mean, std = change
    return f"{mean:+.1f} %" if std is None else f"{mean:+.1f}±{std:.1f} %"


def _caption(record: ChannelMixingRecord) -> str:
    return (
        "Pearson correlations over the time of each test window, averaged over the windows of a class; "
        f"{spread(record.cells.seeds)} of the trained layer; untrained: the same layers before training. "
        f"{cells_caption(record.cells)}"
    )


def _footnotes(record: ChannelMixingRecord, blocks: Iterable[Sequence[Line]]) -> list[str]:
    notes = []
    undefined = max(seed.n_undefined for seed in record.seeds)
    if undefined:
        notes.append(
            f"{undefined} of {record.n_entries} correlations are undefined, since a channel is constant in the window: "
            "left out before and after"
        )
    fewer = _pairs_with_fewer_entries(record)
    if fewer:
        notes.append(
            f"norms are over the entries that both classes have, fewer in some pairs: {', '.join(fewer)}"
        )
    tiny = [line.label for lines in blocks for line in lines if line.before and abs(line.before[0]) < _TINY]
    if tiny:
        notes.append(
            f"the number before is near zero, so the relative change means little: {', '.join(tiny)}"
        )
    if record.cells.dataset == PAPER_DATASET:
        notes.append("published change: printed in the MedMamba paper, not measured here")
    return notes


def _pairs_with_fewer_entries(record: ChannelMixingRecord) -> list[str]:
    """Return, with their numbers of entries, the pairs of classes whose norm is over fewer entries than others."""
    distances = [distance for distance in record.seeds[0].distances if distance.n_entries is not None]
    most = max((distance.n_entries or 0 for distance in distances), default=0)
    return [
        f"{_short(distance.first)} - {_short(distance.second)} {distance.n_entries} of {most}"
        for distance in distances
        if distance.n_entries != most
    ]


def _short(class_name: str) -> str:
    return _SHORT_CLASSES.get(class_name, class_name)


def _published(dataset: str) -> dict[frozenset[str], float]:
    """Return the paper's changes in percent by class or pair of classes; it printed them for ADFTD only."""
    if dataset != PAPER_DATASET:
        return {}
    return {
        frozenset(PAPER_CLASSES[short] for short in classes.split()): change
        for claim in text_claims()
        if claim.needs == NAME
        for classes, change in claim.about.get("changes_percent", {}).items()
    }
