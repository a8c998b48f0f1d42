"""``bench analyze missing-sensors``: macro F1 when channels are missing at test time."""

from pathlib import Path
from typing import Any

import click

from bench.cli.analyses import results_folder, root_for, show, trained_options
from bench.cli.options import report_folder


@click.command("missing-sensors")
@trained_options
@click.option("--models", default="medmamba", show_default=True, help="Trained models, a comma list.")
@click.option("--recipe", help="Only cells of this recipe. [default: all]")
@click.option(
    "--windows", "n_windows", type=click.IntRange(min=1), default=512, show_default=True, help="Test windows."
)
@click.option(
    "--draws", "n_draws", type=click.IntRange(min=1), default=5, show_default=True, help="For each number."
)
@click.option("--seed", "draw_seed", default=41, show_default=True, help="Of windows and channels.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
def command(
    dataset: str,
    data: Path | None,
    out: Path | None,
    models: str,
    recipe: str | None,
    device: str,
    **options: Any,
) -> None:
    """Measure macro F1 with channels missing; compares cells with and without channel dropout.

    \b
    bench run --models medmamba --datasets ptb-xl --set channel_dropout=0
    bench analyze missing-sensors --dataset ptb-xl
    """
    from bench.analyze.missing_sensors import Settings, run
    from bench.analyze.trained import trained_cells
    from bench.errors import RecordError
    from bench.models import registry
    from bench.plan.select import parse_names
    from bench.reports.missing_sensors import missing_sensors_figure, missing_sensors_table
    from bench.results.missing_sensors import write_missing_sensors
    from bench.run.environment import resolve_device

    results = results_folder(out)
    names = parse_names("model", models, registry.names(), registry.names(all_only=True))
    records = [one for name in names for one in trained_cells(results, name, dataset)]
    chosen = [one for one in records if recipe in (None, one.cell.recipe)]
    if not chosen:
        raise RecordError(f"{results}: no trained cell of recipe '{recipe}'; choose another --recipe")
    settings = Settings(device=resolve_device(device), **options)
    record = run(results, chosen, root_for(chosen, data), settings, lambda line: click.echo(line, err=True))
    write_missing_sensors(results, record)
    show([missing_sensors_table(record)], [missing_sensors_figure(record)], report_folder(out))
