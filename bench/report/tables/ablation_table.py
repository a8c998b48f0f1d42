"""The paper's ablation table from records: each model's scores with the differences to the full model in brackets.

Source: table ablation_vertical of the paper (ADFTD). Any dataset with a reduced model gets a table.
"""

from collections.abc import Mapping

from bench.paper import published
from bench.paper.names import OURS, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table, mark_cells
from bench.report.tables.main_results import chance_rows, score_cell
from bench.results.metrics import METRICS
from bench.studies.ablation_differences import Ablation, Difference
from bench.studies.caption import data_remarks, study_caption
from bench.studies.suite import gap_of

_PAPER_ORDER = ("accuracy", "f1", "precision", "recall", "auroc", "auprc")
_LACKS = {
    "medmamba-single-scale": "MS",
    "medmamba-unidirectional": "Bi",
    "medmamba-no-channel-mixing": "CM",
}
_BLANK = Cell(text="")

ByMetric = Mapping[str, Cell]


def ablation_table(ablation: Ablation, name: str) -> Table:
    """Return the table of one dataset, a block for each model and a row for each score, as the paper has it."""
    study, notes = ablation.study, Footnotes()
    scores = _marked(
        {model: _scores(ablation, model, notes) for model in ablation.groups},
        several_seeds=ablation.study.has_several_seeds,
    )
    with_published = study.dataset == published.ABLATION_DATASET
    printed = _marked(_published_scores(ablation.groups), several_seeds=True) if with_published else {}
    blocks = []
    for model in ablation.groups:
        drops = _drops(model) if with_published else {}
        rows = []
        for metric in _PAPER_ORDER:
            cells = [scores[model][metric], _bracket(ablation, model, metric, notes)]
            if with_published:
                cells += [printed[model][metric], drops.get(metric, _BLANK if model == OURS else Cell())]
            rows.append(Row(METRICS[metric], tuple(cells)))
        blocks.append(Block(_heading(model), tuple(rows)))
    pair = ("score", "(difference)")
    groups = (("measured here", 2), ("published, not measured here", 2))
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: ablation",
        columns=(*pair, *pair) if with_published else pair,
        blocks=(*blocks, *_chance(ablation, with_published)),
        caption=f"{study_caption(study, ablation.groups.values())} {_HOW}",
        footnotes=(*notes.texts, *data_remarks(study)),
        corner="Score",
        groups=groups if with_published else groups[:1],
    )


_HOW = (
    "MS, Bi, CM: multi-scale, bidirectional, channel mixing. Scores: best in bold, second underlined. In brackets: "
    "reduced minus full model in percentage points, paired by seed, mean and sample standard deviation; in square "
    "brackets its 95% interval for other seeds and other test subjects (docs/statistics.md); AUPRC has none. A bold "
    "difference: the interval excludes zero."
)


def _heading(model: str) -> str:
    parts = ", ".join(f"{part} {'no' if _LACKS.get(model) == part else 'yes'}" for part in ("MS", "Bi", "CM"))
    return f"{model} ({parts})"


def _scores(ablation: Ablation, model: str, notes: Footnotes) -> ByMetric:
    """Return a model's scores; dashes with the reason if it lacks a seed that another model has."""
    group, study = ablation.groups[model], ablation.study
    gap = gap_of(group, study.seeds, short_name(study.dataset))
    if gap:
        return dict.fromkeys(METRICS, Cell(note=notes.number(gap)))
    return {metric: score_cell(group, metric) for metric in METRICS}


def _marked(scores: Mapping[str, ByMetric], *, several_seeds: bool) -> dict[str, dict[str, Cell]]:
    """Return cells of models, of several seeds with the best and second of each metric marked."""
    marked: dict[str, dict[str, Cell]] = {model: {} for model in scores}
    for metric in METRICS:
        cells = [scores[model][metric] for model in scores]
        column = mark_cells(cells) if several_seeds else cells
        for model, cell in zip(scores, column, strict=True):
            marked[model][metric] = cell
    return marked


def _bracket(ablation: Ablation, model: str, metric: str, notes: Footnotes) -> Cell:
    if model == OURS:
        return _BLANK
    found = ablation.differences[model][metric]
    note = notes.number("; ".join(found.remarks)) if found.remarks else None
    if found.mean is None:
        return Cell(note=note)
    return Cell(
        found.mean,
        found.std,
        mark="best" if found.is_sure else "",
        note=note,
        low=found.low,
        high=found.high,
        text=_in_brackets(found),
    )


def _in_brackets(found: Difference) -> str:
    std = "" if found.std is None else f"±{found.std:.2f}"
    interval = "" if found.low is None else f" [{found.low:+.2f}, {found.high:+.2f}]"
    return f"({found.mean:+.2f}{std}{interval})"


def _published_scores(models: Mapping[str, object]) -> dict[str, ByMetric]:
    printed = {(row.variant, row.metric): Cell(row.mean, row.std) for row in published.ablation()}
    return {model: {metric: printed.get((model, metric), Cell()) for metric in METRICS} for model in models}


def _drops(model: str) -> dict[str, Cell]:
    """Return the differences that the paper prints in brackets, as reduced minus full."""
    return {
        row.metric: Cell(-row.drop, text=f"({-row.drop:+.2f})")
        for row in published.ablation()
        if row.variant == model and row.drop is not None
    }


def _chance(ablation: Ablation, with_published: bool) -> list[Block]:
    rest = (_BLANK,) * (3 if with_published else 1)
    blocks = []
    for row in chance_rows(ablation.study.record):
        cells = dict(zip(METRICS, row.cells, strict=True))
        rows = tuple(Row(METRICS[metric], (cells[metric], *rest)) for metric in _PAPER_ORDER)
        blocks.append(Block(f"{row.label}, by chance on this test split", rows))
    return blocks
