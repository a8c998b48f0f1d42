"""``bench list``: Show models, datasets, presets, recipes or settings."""

import json
import warnings
from typing import Any

import click

from bench.cli.options import SuggestingGroup

_NOT_COUNTED: dict[str, int | None] = {"parameters": None, "total": None}


@click.group("list", cls=SuggestingGroup)
def command() -> None:
    """Show models, datasets, presets, recipes or settings.

    \b
    bench list models
    bench list models --dataset adftd --json
    bench list settings --model medmamba
    """


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows with equal keys as aligned columns, or as JSON."""
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in rows[0]}
    for line in ({key: key for key in widths}, *rows):
        click.echo("  ".join(f"{line[key]!s:<{width}}" for key, width in widths.items()).rstrip())


@command.command("models")
@click.option("--dataset", help="Count parameters for the window shape of this dataset.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_models(dataset: str | None, as_json: bool) -> None:
    """Show every model: group, kind, family, source, notes; with --dataset also its parameters and whether it fits.

    Groups are what --models takes: paper (the same as all), variants, beyond, classical, braindecode, everything
    (paper, beyond and classical). Parameters are counted in the forward pass and in all; those of an estimator cannot
    be counted before it is fitted. If a network does not fit the dataset's windows, or shrinks its layers for them,
    the reason is shown. --models also takes patterns such as 'medmamba*' and any class of braindecode, such as
    braindecode:EEGNet.

    \b
    bench list models --dataset adftd --json
    """
    from bench.models import registry
    from bench.settings.tables import recipe as recipe_of

    published = recipe_of("published")
    rows = []
    for name in sorted([*registry.names(), *registry.estimator_names(), *registry.braindecode_names()]):
        entry, is_estimator = registry.entry(name), registry.is_estimator(name)
        kind = "estimator" if is_estimator else "network"
        row: dict[str, Any] = {"name": name, "group": entry.group, "kind": kind, "family": entry.family}
        fits = "-"
        if dataset is not None:
            counted, fits = (_NOT_COUNTED, fits) if is_estimator else _counted(name, dataset)
            row |= counted
        recipe = "-" if is_estimator else published.followed_by(name)
        row |= {"source": f"{entry.paper}; {entry.repository}@{entry.commit}", "recipe": recipe}
        row |= {"in_all": entry.in_all, "notes": entry.notes}
        if dataset is not None:
            row["fits"] = fits
        rows.append(row)
    _print(rows, as_json)


def _counted(name: str, dataset: str) -> tuple[dict[str, int | None], str]:
    """Return the parameters of a network at a dataset's shape, and whether it fits: yes, with a remark, or why not."""
    from bench import datasets
    from bench.errors import BenchError
    from bench.measure.parameters import parameters_for

    datasets.facts(dataset)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            counted = parameters_for(name, dataset)
    except BenchError as error:
        return _NOT_COUNTED, f"no: {error}"
    remarks = "".join(f", but {warning.message}" for warning in caught)
    return {"parameters": counted.forward, "total": counted.total}, f"yes{remarks}"


@command.command("datasets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_datasets(as_json: bool) -> None:
    """Show every dataset's card: source, licence, task, counts, split, known problems.

    \b
    bench list datasets --json
    """
    from dataclasses import asdict

    from bench import datasets

    cards = [asdict(datasets.facts(name)) for name in datasets.names()]
    if as_json:
        click.echo(json.dumps(cards, indent=1))
        return
    for card in cards:
        click.echo(f"{card['name']}: {card['title']}, version {card['version']}")
        for key in card:
            if key not in ("name", "title", "version") and card[key]:
                value = card[key]
                if isinstance(value, tuple):
                    value = "; ".join(value)
                elif isinstance(value, float):
                    value = f"{value:g}"
                click.echo(f"  {key.replace('_', ' ')}: {value}")
        click.echo("")


@command.command("presets")
def list_presets() -> None:
    """Show what 'bench run --preset' takes.

    \b
    bench list presets
    """
    from bench.settings.tables import preset, preset_names

    _print(
        [{"name": name, "description": preset(name).description} for name in preset_names()], as_json=False
    )


@command.command("recipes")
def list_recipes() -> None:
    """Show the training protocols, which 'bench run --recipe' takes.

    \b
    bench list recipes
    """
    from bench.settings.tables import recipe, recipe_names

    rows = [
        {"name": name, "description": recipe(name).description, "source": recipe(name).source}
        for name in recipe_names()
    ]
    _print(rows, as_json=False)


@command.command("settings")
@click.option("--model", help="Show the hyperparameters of this model too.")
def list_settings(model: str | None) -> None:
    """Show what 'bench run --set' takes: values, meaning, and whose setting it is.

    \b
    bench list settings
    bench list settings --model medmamba
    """
    from bench.estimators import registry
    from bench.settings.words import settings_in_words

    if model is not None and registry.is_own(model):
        model = registry.register_own(model)
    _print([word._asdict() for word in settings_in_words(model)], as_json=False)
