"""``bench analyze missing-sensors``: macro F1 when channels are missing at test time."""

from pathlib import Path
from typing import Any

import click

from bench.cli.analyses import chosen_groups, results_folder, root_for, show, trained_options
from bench.cli.options import device_option, report_folder


@click.command("missing-sensors")
@trained_options
@click.option("--models", default="medmamba", show_default=True, help="Trained models, a comma list.")
@click.option(
    "--windows", "n_windows", type=click.IntRange(min=1), default=512, show_default=True, help="Test windows."
)
@click.option(
    "--draws", "n_draws", type=click.IntRange(min=1), default=5, show_default=True, help="For each number."
)
@click.option("--seed", "draw_seed", default=41, show_default=True, help="Of windows and channels.")
@device_option
def command(
    dataset: str,
    data: Path | None,
    recipe: str | None,
    out: Path | None,
    models: str,
    device: str,
    **options: Any,
) -> None:
    """Measure macro F1 with channels missing; compares cells with and without channel dropout.

    \b
    bench run --models medmamba --datasets ptb-xl --set channel_dropout=0
    bench analyze missing-sensors --dataset ptb-xl --recipe published
    """
    from bench.analyses.missing_sensors.compute import Settings, run
    from bench.analyses.missing_sensors.record import write_missing_sensors
    from bench.analyses.missing_sensors.report import missing_sensors_figure, missing_sensors_table
    from bench.models import registry
    from bench.plan.select import parse_names
    from bench.run.environment import resolve_device

    results = results_folder(out)
    names = parse_names("model", models, registry.names(), registry.names(all_only=True))
    groups = [group for name in names for group in chosen_groups(results, name, dataset, data, recipe)]
    same = [group for group in groups if group[0].data.fingerprint == groups[0][0].data.fingerprint]
    if len(same) < len(groups):
        click.echo(f"leaves out {len(groups) - len(same)} groups of cells trained on other data", err=True)
    chosen = [record for group in same for record in group]
    settings = Settings(device=resolve_device(device), **options)
    record = run(results, chosen, root_for(chosen, data), settings, lambda line: click.echo(line, err=True))
    write_missing_sensors(results, record)
    show([missing_sensors_table(record)], [missing_sensors_figure(record)], report_folder(out))
