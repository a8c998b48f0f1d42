"""The report on features: how well they separate classes and subjects, and maps of windows coloured by both."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.analyses.arrays import read_arrays
from bench.analyses.cells_caption import data_caption
from bench.analyses.contract import Shown
from bench.analyses.embedding.record import ANALYSIS, NAME, EmbeddingRecord, Quantity
from bench.paper.names import in_paper_order, in_report_order, short_name
from bench.render import style
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Row, Table
from bench.stats.summary import DDOF, over_seeds
from bench.studies import kinds
from bench.studies.caption import numbers

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

COLUMNS: tuple[tuple[Quantity, str], ...] = (
    ("silhouette_class", "class"),
    ("silhouette_subject", "subject"),
    ("class_from_others", "class, from others"),
    ("class_from_all", "class, from all"),
    ("subject_from_all", "subject"),
)
PAPER_ROWS = ("adftd", "ptb-xl")
N_NAMED_SUBJECTS = 10
_LOOKS = tuple(
    zip(
        (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.INK, style.FAINT),
        ("o", "^", "s", "D", "v", "P"),
        strict=True,
    )
)


@dataclass(frozen=True)
class Map:
    """A map of windows: positions (n, 2), class name and subject of each (n,)."""

    record: EmbeddingRecord
    position: NDArray[np.float32]
    class_name: NDArray[np.str_]
    subject: NDArray[np.str_]


def report(out: Path, records: Sequence[EmbeddingRecord]) -> Shown:
    """Return the table and the two maps.

    Raises
    ------
    RecordError
        The arrays of a record are missing or have another hash.
    """
    maps = [_read_map(out, record) for record in records]
    return Shown([embedding_table(records)], [class_figure(maps), subject_figure(maps)])


def embedding_table(records: Sequence[EmbeddingRecord]) -> Table:
    """Return how well features separate: a block per dataset, a row per model, and the score of a constant guess."""
    by_dataset = {record.cells.dataset: [] for record in records}
    for record in records:
        by_dataset[record.cells.dataset].append(record)
    blocks = []
    for dataset in in_report_order(by_dataset):
        rows = {record.cells.model: _row(record) for record in by_dataset[dataset]}
        ordered = tuple(rows[model] for model in in_paper_order(rows))
        blocks.append(Block(_heading(by_dataset[dataset][0]), (*ordered, _chance(by_dataset[dataset][0]))))
    return Table(
        name=NAME,
        title="What features separate: classes or persons",
        columns=(*(heading for _, heading in COLUMNS), "clusters by"),
        blocks=tuple(blocks),
        caption=_table_caption(records),
        groups=(("silhouette", 2), ("nearest neighbours", 3), ("", 1)),
        unit="fraction",
        digits=3,
    )


def clusters_by(record: EmbeddingRecord) -> str:
    """Return what windows cluster by, the label with the larger positive silhouette, or that seeds differ."""
    clusters = {_cluster(seed.silhouette_class, seed.silhouette_subject) for seed in record.seeds}
    return clusters.pop() if len(clusters) == 1 else "seeds differ"


def _cluster(by_class: float | None, by_subject: float | None) -> str:
    if by_class is None or by_subject is None:
        return "--"
    if max(by_class, by_subject) <= 0:
        return "neither"
    return "class" if by_class > by_subject else "person"


def class_figure(maps: Sequence[Map]) -> Figure:
    """Return the paper's figure: windows coloured by class."""
    return _figure(maps, f"{NAME}-class", "class")


def subject_figure(maps: Sequence[Map]) -> Figure:
    """Return the same maps coloured by subject."""
    return _figure(maps, f"{NAME}-subject", "subject")


def _figure(maps: Sequence[Map], name: str, by: str) -> Figure:
    texts = "; ".join(
        f"{map_.record.cells.model} on {short_name(map_.record.cells.dataset)}: {clusters_by(map_.record)}"
        for map_ in maps
    )
    few = (
        f"The {N_NAMED_SUBJECTS} subjects with most windows have a colour and a marker, the others are grey. "
        if by == "subject"
        else ""
    )
    return Figure(
        name=name,
        title=f"Features of test windows, coloured by {by}",
        caption=(
            f"t-SNE of the features before the classifier, coloured by {by}; positions and distances between clusters "
            f"have no unit. {few}{_map_caption([map_.record for map_ in maps])}"
        ),
        alt=f"Scatter plots of test windows, one per model and dataset, coloured by {by}. Clusters by: {texts}.",
        draw=partial(draw, maps, by),
        stamp=_stamp(maps),
    )


def _stamp(maps: Sequence[Map]) -> str:
    cells = [map_.record.cells for map_ in maps]
    datasets = in_report_order({cell.dataset for cell in cells})
    return kinds.stamp(
        ", ".join(map(short_name, datasets)), kinds.least_real(cell.data.kind for cell in cells)
    )


def draw(maps: Sequence[Map], by: str) -> "matplotlib.figure.Figure":
    """Draw a row per dataset and a column per model, with the legend of each row on its right."""
    models = in_paper_order({map_.record.cells.model for map_ in maps})
    found = {map_.record.cells.dataset for map_ in maps}
    # The paper's order of rows first; other datasets follow in the order of reports.
    datasets = [*(name for name in PAPER_ROWS if name in found), *in_report_order(found - {*PAPER_ROWS})]
    placed = {(map_.record.cells.dataset, map_.record.cells.model): map_ for map_ in maps}
    figure = style.new_figure(style.PAGE_IN, 0.3 + 2.4 * len(datasets))
    grid = figure.subplots(len(datasets), len(models), squeeze=False)
    for line, dataset in enumerate(datasets):
        for axes, model in zip(grid[line], models, strict=True):
            axes.set_title(f"{short_name(dataset)}, {model}")
            axes.set_xticks([])
            axes.set_yticks([])
            if (dataset, model) in placed:
                draw_map(placed[dataset, model], axes, by)
            else:
                axes.text(0.5, 0.5, "not analysed", ha="center", va="center", transform=axes.transAxes)
        handles, labels = max(
            (axes.get_legend_handles_labels() for axes in grid[line]), key=lambda x: len(x[1])
        )
        grid[line][-1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), title=by)
    return figure


def draw_map(map_: Map, axes: "Axes", by: str) -> None:
    """Draw one map."""
    values = map_.class_name if by == "class" else map_.subject
    shown = _shown(map_, by)
    rest = ~np.isin(values, shown)
    if rest.any():
        axes.scatter(
            *map_.position[rest].T, s=4, color=style.GRID, linewidths=0, label=f"{_n(values[rest])} others"
        )
    for number, value in enumerate(shown):
        colour, marker = _LOOKS[number % len(_LOOKS)]
        face = colour if number < len(_LOOKS) else "none"
        axes.scatter(
            *map_.position[values == value].T, s=7, marker=marker, facecolors=face, edgecolors=colour,
            linewidths=0.4, label=value, alpha=0.8,
        )  # fmt: skip


def _shown(map_: Map, by: str) -> list[str]:
    """Return the classes in the order of their labels, or the subjects with most windows."""
    if by == "class":
        return [name for name in map_.record.cells.data.class_names if (map_.class_name == name).any()]
    names, counts = np.unique(map_.subject, return_counts=True)
    return [str(name) for name in names[np.argsort(-counts, kind="stable")][:N_NAMED_SUBJECTS]]


def _n(values: NDArray) -> int:
    return len(np.unique(values))


def _read_map(out: Path, record: EmbeddingRecord) -> Map:
    arrays = read_arrays(ANALYSIS.folder_in(out), record.stem, record.arrays_sha256)
    names = np.array(record.cells.data.class_names)[arrays["label"]]
    return Map(record, arrays["position"], names, arrays["subject"])


def _row(record: EmbeddingRecord) -> Row:
    cells = []
    for quantity, _ in COLUMNS:
        found = over_seeds([getattr(seed, quantity) for seed in record.seeds])
        cells.append(Cell(*found) if found else Cell())
    return Row(record.cells.model, (*cells, Cell(text=clusters_by(record))))


def _chance(record: EmbeddingRecord) -> Row:
    guesses = (record.constant_from_others, record.largest_class, record.largest_subject)
    numbers = (Cell() if guess is None else Cell(guess) for guess in guesses)
    return Row("(most frequent)", (Cell(), Cell(), *numbers, Cell()))


def _heading(record: EmbeddingRecord) -> str:
    name, warning = short_name(record.cells.dataset), kinds.suffix(record.cells.data)
    return f"{name}{warning}: {record.n_windows} windows of {record.n_subjects} subjects"


def _table_caption(records: Sequence[EmbeddingRecord]) -> str:
    seeds = "; ".join(
        f"{record.cells.model} on {short_name(record.cells.dataset)} {numbers(record.cells.seeds)}"
        for record in records
    )
    return (
        f"Mean and sample standard deviation (ddof {DDOF}) over trained seeds: {seeds}. Euclidean distances between "
        f"features before the classifier. Silhouette from -1 to 1. Nearest neighbours: share of windows whose "
        f"{records[0].n_neighbours} nearest neighbours have their class (from others: neighbours of other subjects "
        "only; from all: any other window) or their subject, by vote. Where 'from all' is higher than 'from "
        "others', the features recognise the person. Last row: the most frequent label among those neighbours. "
        f"Windows drawn: {_drawn(records)}. {_conditions(records)}"
    )


def _map_caption(records: Sequence[EmbeddingRecord]) -> str:
    settings = sorted({(record.perplexity, record.tsne_seed, record.n_components) for record in records})
    texts = "; ".join(f"perplexity {p:g}, seed {seed}, after PCA to {n}" for p, seed, n in settings)
    shown = numbers(sorted({record.map_seed for record in records}))
    return f"t-SNE: {texts}. Cells of seed {shown}. Windows drawn: {_drawn(records)}. {_conditions(records)}"


def _drawn(records: Sequence[EmbeddingRecord]) -> str:
    texts = {
        f"{short_name(record.cells.dataset)}: {record.n_windows} of {record.n_subjects} subjects "
        f"({data_caption(record.cells.data)})"
        for record in records
    }
    return "; ".join(sorted(texts))


def _conditions(records: Sequence[EmbeddingRecord]) -> str:
    texts = sorted(
        {f"{record.cells.recipe}, changed: {record.cells.changes or 'nothing'}" for record in records}
    )
    return f"Recipe: {'; '.join(texts)}."
