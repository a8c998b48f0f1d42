"""``bench export``: Write all scores for other tools: CSV, Parquet, MLflow."""

from pathlib import Path

import click


@click.command("export")
@click.argument("out", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--format",
    "name",
    type=click.Choice(["csv", "parquet", "mlflow"]),
    default="csv",
    show_default=True,
    help="Parquet and MLflow need the extras parquet and mlflow.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="File, or MLflow's folder. [default: cells.csv, cells.parquet, mlruns]",
)
def command(out: Path, name: str, target: Path | None) -> None:
    """Write the scores of all cells of a results folder, a row for each cell, part and metric, or as runs of MLflow.

    MLflow runs go to a folder; no server is needed, and runs that are there already are not written again.

    \b
    bench export results
    bench export results --format parquet --to scores.parquet
    bench export results --format mlflow
    """
    from bench.report.exports import export

    click.echo(export(out, name, target))
