"""The field's table as one static page: what papers claim and packs verify, sortable and filtered, with CSV files."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from bench import __version__
from bench.field.claimed import (
    FieldPaper,
    datasets,
    models_on,
    own_scores,
    papers,
    row_of,
    text_of,
    this_paper,
)
from bench.field.submission import WINDOWS, Submission, SubmittedRow
from bench.paper.names import in_report_order, short_name
from bench.render.export import write_text

SHOWN = ("accuracy", "f1", "auroc")
CLAIMED, VERIFIED = "claimed", "verified"


@dataclass(frozen=True)
class PageRow:
    """One row of the page. ``scores`` holds mean and deviation in percent by metric; ``windows`` are links per seed."""

    dataset: str
    model: str
    status: str
    kind: str
    recipe: str
    configurations: str
    pretraining: str
    seeds: str
    published: str
    scores: dict[str, tuple[float, float | None] | None]
    remark: str
    windows: tuple[tuple[int, str], ...] = ()


def write_page(found: Sequence[Submission], folder: Path) -> list[Path]:
    """Write the page and its files below a folder; return their paths, the page first."""
    rows = [*_claimed(), *(_verified(row, submission) for submission in found for row in submission.rows)]
    environment = Environment(
        loader=PackageLoader("bench.field"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("field.html").render(
        version=__version__, rows=rows, shown=SHOWN, name_of=short_name, n_packs=len(found)
    )
    return [
        write_text(folder / "index.html", text),
        write_text(folder / "claimed-seeds.csv", text_of("seeds.csv")),
        write_text(folder / "claimed-scores.csv", text_of("results.csv")),
        _write_seeds(folder / "verified-seeds.csv", found),
    ]


def _claimed() -> list[PageRow]:
    rows = []
    for dataset in in_report_order(datasets()):
        for paper in (this_paper(), *(papers()[model] for model in models_on(dataset))):
            rows.append(_claimed_row(dataset, paper))
    return rows


def _claimed_row(dataset: str, paper: FieldPaper) -> PageRow:
    own = {score.metric: score for score in own_scores(dataset)} if paper == this_paper() else {}
    found = own or row_of(dataset, paper.model)
    seeds = {str(score.n_seeds) for score in found.values() if score.n_seeds is not None}
    return PageRow(
        dataset=dataset,
        model=paper.model,
        status=CLAIMED,
        kind="published",
        recipe="its own",
        configurations=paper.budget,
        pretraining=paper.pretraining,
        seeds=", ".join(sorted(seeds)) or "not said",
        published=f"{paper.venue} ({paper.published[:7]})",
        scores={
            metric: (found[metric].mean, found[metric].std) if metric in found else None for metric in SHOWN
        },
        remark=paper.difference(dataset),
    )


def _verified(row: SubmittedRow, submission: Submission) -> PageRow:
    scores = {}
    for metric in SHOWN:
        mean = row.mean(metric)
        scores[metric] = None if mean is None else (mean, row.std(metric))
    return PageRow(
        dataset=row.dataset,
        model=row.model,
        status=VERIFIED,
        kind=row.kind,
        recipe=f"{row.recipe}{f', changed: {row.changed}' if row.changed else ''}",
        configurations="none" if row.configurations is None else str(row.configurations),
        pretraining="none",
        seeds=", ".join(str(cell.seed) for cell in row.cells),
        published=f"pack {submission.sha256[:12]} ({submission.added})",
        scores=scores,
        remark=f"{row.n_test_windows:,} test windows of {row.n_test_subjects} subjects, split {row.split}",
        windows=tuple((cell.seed, f"{WINDOWS}/{cell.key[:12]}.csv") for cell in row.cells),
    )


def _write_seeds(path: Path, found: Sequence[Submission]) -> Path:
    """Write a line for each seed and metric of every submitted cell, scores in percent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["dataset", "model", "recipe", "seed", "metric", "value", "key", "pack"])
        for submission in found:
            for row in submission.rows:
                for cell in row.cells:
                    for metric, value in cell.scores.items():
                        shown = "" if value is None else f"{100 * value:.4f}"
                        name = (row.dataset, row.model, row.recipe, cell.seed)
                        lines.writerow([*name, metric, shown, cell.key, submission.sha256])
    return path
