"""``bench analyze channel-mixing``: what the trained mixing layer does to the correlations of channels."""

from pathlib import Path

import click

from bench.cli.analyses import chosen_cells, results_folder, root_for, show, trained_options
from bench.cli.options import report_folder


@click.command("channel-mixing")
@trained_options
@click.option(
    "--model", default="medmamba", show_default=True, help="MedMamba or a variant that mixes channels."
)
def command(dataset: str, data: Path | None, recipe: str | None, out: Path | None, model: str) -> None:
    """Compare the correlations of channels before and after the trained mixing layer, on test windows.

    \b
    bench analyze channel-mixing
    bench analyze channel-mixing --dataset ptb-xl --data DIR --out results
    """
    from bench.analyses.channel_mixing.compute import run
    from bench.analyses.channel_mixing.report import mixing_figure, mixing_table

    results = results_folder(out)
    records = chosen_cells(results, model, dataset, data, recipe)
    record = run(results, records, root_for(records, data))
    show([mixing_table(record)], [mixing_figure(record)], report_folder(out))
