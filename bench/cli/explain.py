"""``bench explain``: Show what a cell's key is made of, and where each value comes from."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import data_option, grid_options, out_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.plan.grid import Request
    from bench.settings import CellSettings


@click.command("explain")
@grid_options
@data_option
@out_option
@click.option(
    "--ablation/--no-ablation",
    default=True,
    show_default=True,
    help="Explain MedMamba's three ablation variants on ADFTD too.",
)
@click.option("--skip-missing", is_flag=True, help="Skip datasets that are missing or cannot be split.")
def command(data: Path | None, out: Path | None, skip_missing: bool, **options: Any) -> None:
    """Show what the key of each cell is made of, and where each value comes from.

    \b
    bench explain --models medmamba --datasets ptb-xl --seeds 41 --data DIR
    bench explain --models transformer --datasets ptb-xl --seeds 41 --set epochs=20
    """
    from bench.cli import over_grid as grid
    from bench.cli.options import default_results

    request, _ = grid.split_request(options, data)
    results = out or default_results()
    for planned in grid.planned_cells(request, data, results, skip_missing=skip_missing):
        settings = planned.settings
        click.echo(f"{settings.model} / {settings.dataset} / seed {settings.seed}: {planned.status}")
        if planned.cell is None:
            click.echo(
                f"  no key yet: the dataset is not prepared; {_remedy(settings.dataset, request, data)}"
            )
        else:
            click.echo(f"  key {planned.cell.key}")
            click.echo(json.dumps(_shortened(planned.cell.key_parts()), indent=2))
        for line in _values(settings):
            click.echo(f"  {line}")


def _values(settings: "CellSettings") -> list[str]:
    """Return a line for every setting: its value, and where it comes from."""
    from bench.settings.words import text_of

    values = {
        **settings.training.model_dump(),
        **settings.hyperparameters,
        **settings.data.model_dump(),
        **settings.execution,
    }
    texts = {name: text_of(name, value) for name, value in sorted(values.items())}
    width, wide = max(map(len, texts)), min(24, max(map(len, texts.values())))
    return [
        f"{name:<{width}}  {text:<{wide}}  {settings.origins.get(name, 'default')}"
        for name, text in texts.items()
    ]


def _remedy(dataset: str, request: "Request", data: Path | None) -> str:
    if data is None and request.preset.simulated:
        return "'bench run' with this preset simulates and prepares it"
    return f"'bench data prepare {dataset}{'' if data is None else f' --data {data}'}' does that"


def _shortened(parts: dict) -> dict:
    """Return the parts without settings, with each list of subjects as its length and ends."""
    split = {name: _ends(subjects) for name, subjects in parts["data"]["split"].items()}
    # Settings are shown one by one, with their origins.
    model = {name: value for name, value in parts["model"].items() if name != "hyperparameters"}
    rest = {name: value for name, value in parts.items() if name != "training"}
    return {**rest, "model": model, "data": {**parts["data"], "split": split}}


def _ends(subjects: "Sequence[str]") -> str:
    if len(subjects) < 2:
        return f"subject {subjects[0]}" if subjects else "no subject"
    return f"{len(subjects)} subjects, {subjects[0]} ... {subjects[-1]}"
