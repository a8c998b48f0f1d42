"""``bench evaluate``: Test weights (of the published code or your own) on a dataset."""

from pathlib import Path

import click

from bench.cli.options import data_option, default_data


@click.command("evaluate")
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="A .pth or .safetensors file: a cell's own, or with the published code's tensor names.",
)
@click.option("--model", required=True, help="The network that the weights are of: a name, or FILE.py:Class.")
@click.option("--dataset", required=True, help="Name of the dataset whose test part is scored.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="A hyperparameter of the weights. Repeatable. [default: those of the record beside the weights]",
)
@click.option(
    "--seed",
    type=int,
    default=41,
    show_default=True,
    help="Seed of models that draw random numbers in evaluation.",
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
    """Test weights on a dataset's test part: scores in percent, beside the scores of guessing.

    \b
    bench evaluate --weights checkpoint.pth --model medformer --dataset adftd --data DIR
    bench evaluate --weights results/cells/.../weights.safetensors --model medmamba --dataset adftd
    """
    from bench import datasets
    from bench.plan.request import chosen_networks
    from bench.results.metrics import METRICS
    from bench.run.evaluation import evaluate_checkpoint
    from bench.studies.chance import stratified_scores

    root = data or default_data()
    datasets.register_imported(root)
    (name,) = chosen_networks(model)
    found = evaluate_checkpoint(
        weights, name, dataset, root, assignments=assignments, seed=seed, allow_skipped=allow_skipped
    )
    scores, guesses = found.scores, stratified_scores(found.windows_per_class)
    click.echo(
        f"{name} on {dataset} ({found.kind} data, split {found.split}): "
        f"{scores.n_windows} test windows of {scores.n_subjects} subjects"
    )
    for metric in METRICS:
        click.echo(
            f"  {metric + ':':<10} {_percent(getattr(scores, metric)):>9}  by guessing {_percent(guesses.get(metric))}"
        )


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:.2f} %"
