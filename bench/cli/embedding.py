"""``bench analyze embedding``: whether a model's features separate classes or persons."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.analyses import cells_options, chosen_cells, register_own, results_folder, root_for, show
from bench.cli.options import report_folder

if TYPE_CHECKING:
    from bench.results.record import Record

PAPER_MODELS, PAPER_DATASETS = "medformer,medmamba", "adftd,ptb-xl"


@click.command("embedding")
@click.option("--models", help=f"Names, a comma list, or all. [default: those trained of {PAPER_MODELS}]")
@click.option(
    "--datasets", help=f"Names, a comma list, or all. [default: those trained on of {PAPER_DATASETS}]"
)
@click.option(
    "--windows",
    type=click.IntRange(min=20),
    default=1500,
    show_default=True,
    help="At most, of each test part.",
)
@cells_options
def command(
    models: str | None,
    datasets: str | None,
    windows: int,
    data: Path | None,
    recipe: str | None,
    out: Path | None,
) -> None:
    """Map the features of test windows by t-SNE, and measure whether they cluster by class or by subject.

    \b
    bench analyze embedding
    bench analyze embedding --models medmamba,patchtst --datasets uci-har --data DIR --out results
    """
    from bench.analyses.embedding.compute import run
    from bench.analyses.embedding.report import embedding_report
    from bench.cli.measuring import say

    results = results_folder(out)
    for records in _chosen(results, models, datasets, data, recipe):
        cell = records[0].cell
        say(f"{cell.model} on {cell.dataset}: {len(records)} seeds")
        run(results, records, root_for(records, data), n_windows=windows)
    show(*embedding_report(results), report_folder(out))


def _chosen(
    results: Path, models: str | None, datasets: str | None, data: Path | None, recipe: str | None
) -> "list[list[Record]]":
    """Return the cells of each model on each dataset; what was named has to be there, of the paper's what is there.

    Raises
    ------
    UsageError
        A name is unknown.
    RecordError
        There are no such cells.
    """
    from bench.cli.measuring import say
    from bench.datasets import registry as known_datasets
    from bench.errors import RecordError
    from bench.models import registry as known_models
    from bench.plan.select import parse_names

    register_own(data)
    with_classes = known_datasets.names(all_only=True)
    names = parse_names(
        "model", models or PAPER_MODELS, known_models.names(), known_models.names(all_only=True)
    )
    found: dict[tuple[str, str], list[Record]] = {}
    missing: dict[tuple[str, str], RecordError] = {}
    for dataset in parse_names("dataset", datasets or PAPER_DATASETS, known_datasets.names(), with_classes):
        for model in names:
            try:
                found[model, dataset] = chosen_cells(results, model, dataset, data, recipe)
            except RecordError as error:
                missing[model, dataset] = error
    for (model, dataset), error in missing.items():
        is_wanted = (
            not found
            or (models and datasets)
            or (models and model not in {one for one, _ in found})
            or (datasets and dataset not in {one for _, one in found})
        )
        if is_wanted:
            raise error
        say(f"left out: {error}")
    return list(found.values())
