"""``bench analyze scaling``: how cost grows with the length of the window."""

from pathlib import Path
from typing import Any

import click

from bench.cli.options import data_option, default_results, device_option, out_option, report_folder


@click.command("scaling")
@click.option("--models", default="all", show_default=True, help="Names, a comma list, or all.")
@click.option("--dataset", default="adftd", show_default=True, help="Whose channels, classes and settings.")
@click.option("--lengths", default="128,256,512,1024,2048,4096", show_default=True, help="Steps of a window.")
@click.option("--batch", type=click.IntRange(min=1), default=4, show_default=True, help="Windows at once.")
@device_option
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads. [default: all cores]")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="For all lengths of one model.",
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
    """Measure operations, time and memory over window lengths and fit their exponents.

    \b
    bench analyze scaling
    bench analyze scaling --models medmamba,transformer --lengths 512,1024,2048 --batch 1
    """
    from bench.cli.measuring import scaling_and_report, scaling_plan_of

    scaling_and_report(out or default_results(), report_folder(out), scaling_plan_of(options, data))
