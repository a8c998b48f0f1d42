"""``bench evaluate``: Test a checkpoint of the published code on a dataset."""

from pathlib import Path

import click

from bench.cli.options import data_option, default_data


@click.command("evaluate")
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="A .pth file of the published code, or .safetensors with its tensor names.",
)
@click.option("--model", required=True, help="Name of the model that the checkpoint is of.")
@click.option("--dataset", required=True, help="Name of the dataset whose test part is scored.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="The checkpoint's hyperparameters."
)
@click.option(
    "--seed", type=int, default=41, show_default=True, help="Of models that draw numbers in evaluation."
)
@click.option("--allow-skipped", is_flag=True, help="Accept more than 1 percent of damaged records.")
@data_option
def command(
    weights: Path,
    model: str,
    dataset: str,
    assignments: tuple[str, ...],
    seed: int,
    allow_skipped: bool,
    data: Path | None,
) -> None:
    """Test weights of the published code on a dataset's test part.

    \b
    bench evaluate --weights checkpoint.pth --model medformer --dataset adftd --data DIR
    """
    from bench import datasets
    from bench.results.metrics import METRICS
    from bench.run.evaluation import evaluate_checkpoint

    root = data or default_data()
    datasets.register_imported(root)
    scores = evaluate_checkpoint(
        weights, model, dataset, root, assignments=assignments, seed=seed, allow_skipped=allow_skipped
    )
    click.echo(f"{model} on {dataset}: {scores.n_windows} test windows of {scores.n_subjects} subjects")
    for metric in METRICS:
        value = getattr(scores, metric)
        click.echo(f"  {metric}: {'undefined' if value is None else f'{100 * value:.2f}'}")
