"""``bench efficiency``: what models cost."""

from pathlib import Path
from typing import Any

import click

from bench.cli.options import data_option, default_results, device_option, out_option, report_folder


@click.command("efficiency")
@click.option("--models", default="all", show_default=True, help="Names, a comma list, or all.")
@click.option("--datasets", default="adftd", show_default=True, help="Whose window shapes: names, or all.")
@click.option(
    "--widths", default="script", show_default=True, help="script, wide (the paper's figure), or both."
)
@click.option("--batch", default="1,256", show_default=True, help="Windows at once in inference.")
@click.option(
    "--train-batch", default="32", show_default=True, help="Windows in a step of training; or none."
)
@click.option("--preset", default="paper", show_default=True, help="Sizes of the models.")
@device_option
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads. [default: all cores]")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=45.0,
    show_default=True,
    metavar="SECONDS",
    help="For the timings of one model, on average.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="Done when every median is known this well (plus or minus, 95 percent).",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0.1),
    metavar="GIB",
    help="Per model, on a CPU. [default: what is free]",
)
@data_option
@out_option
def command(data: Path | None, out: Path | None, **options: Any) -> None:
    """Measure parameters, operations, throughput, latency and memory; never while cells train.

    \b
    bench efficiency
    bench efficiency --models medmamba,medformer --widths script,wide --batch 1,32,256
    bench efficiency --device cuda --datasets adftd,sleep-edf
    bench efficiency --models medmamba,./my_model.py:MyNet
    """
    from bench.cli.measuring import measure_and_report, measurement_of

    measure_and_report(out or default_results(), report_folder(out), measurement_of(options, data))
