"""``bench analyze scales``: what each time scale of MedMamba responds to, and what it is worth."""

from pathlib import Path
from typing import Any

import click

from bench.cli.analyses import chosen_cells, results_folder, root_for, show, trained_options
from bench.cli.options import device_option, report_folder


@click.command("scales")
@trained_options
@click.option("--model", default="medmamba", show_default=True, help="MedMamba or a variant of it.")
@click.option(
    "--windows", "n_windows", type=click.IntRange(min=1), default=512, show_default=True, help="Test windows."
)
@click.option("--seed", "draw_seed", default=41, show_default=True, help="Of the draw of windows.")
@device_option
def command(
    dataset: str,
    data: Path | None,
    recipe: str | None,
    out: Path | None,
    model: str,
    device: str,
    **options: Any,
) -> None:
    """Measure the frequency response of every branch's kernels and macro F1 without each branch.

    \b
    bench analyze scales
    bench analyze scales --dataset apava --data DIR --out results
    """
    from bench.analyses.scales.compute import Settings, run
    from bench.analyses.scales.record import write_scales
    from bench.analyses.scales.report import scales_figure, scales_tables
    from bench.run.environment import resolve_device

    results = results_folder(out)
    records = chosen_cells(results, model, dataset, data, recipe)
    settings = Settings(device=resolve_device(device), **options)
    record = run(results, records, root_for(records, data), settings, lambda line: click.echo(line, err=True))
    write_scales(results, record)
    show(scales_tables(record), [scales_figure(record)], report_folder(out))
