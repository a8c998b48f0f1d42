"""One cell's settings from all their sources, each value with its origin.

Later sources win: the model's defaults, its published hyperparameters, the recipe, the preset, ``--set``.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bench.errors import UsageError, unknown_name
from bench.models import registry as models
from bench.settings.schema import DataSettings, Frozen, Overlay, Preset, Training
from bench.settings.tables import hyperparameter_table, recipe

# Ours: settings of a model that change how fast it runs and not what it computes; recorded, not in the key.
NOT_IN_KEY = ("scan",)


class CellSettings(Frozen):
    """Everything that a user can set for one cell.

    ``origins`` says where each value of ``training``, ``hyperparameters`` and ``data`` comes from.
    """

    model: str
    dataset: str
    seed: int
    recipe: str
    training: Training
    hyperparameters: dict[str, Any]
    data: DataSettings
    origins: dict[str, str]


class _Layers:
    """Values under construction: later updates win, and the origin of each is kept."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}

    def update(self, values: Mapping[str, Any], origin: str) -> None:
        self.values.update(values)
        self.origins.update(dict.fromkeys(values, origin))


def resolve(
    model: str, dataset: str, seed: int, *, recipe_name: str, preset: Preset, assignments: Mapping[str, Any]
) -> CellSettings:
    """Resolve the settings of one cell.

    Parameters
    ----------
    model, dataset, seed
        The cell.
    recipe_name
        The training protocol asked for.
    preset
        Its changes come after the recipe's.
    assignments
        The user's ``--set`` values, parsed. A hyperparameter that only other models have is left to them;
        `check_assignments` has refused what nobody knows.

    Raises
    ------
    UsageError
        A value is out of bounds or of the wrong type.
    """
    training = _training_layers(model, dataset, recipe_name, preset)
    hyper = _hyperparameter_layers(model, dataset, preset)
    data = _Layers()
    data.update(DataSettings().model_dump(), "default")
    for layers, fields in (
        (training, Training.model_fields),
        (data, DataSettings.model_fields),
        (hyper, hyper.values),
    ):
        layers.update({k: v for k, v in assignments.items() if k in fields}, "--set")
    if not training.values.get("augmentation") and "augmentations" in hyper.values:
        hyper.update({"augmentations": ["none"]}, f"recipe {recipe_name}: no augmentation")
    try:
        return CellSettings(
            model=model,
            dataset=dataset,
            seed=seed,
            recipe=recipe_name,
            training=Training(**training.values),
            data=DataSettings(**data.values),
            hyperparameters=hyper.values,
            origins=training.origins | hyper.origins | data.origins,
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"--set {name}={first['input']!r}: {first['msg']}; see 'bench run --help'"
        ) from error


def _training_layers(model: str, dataset: str, recipe_name: str, preset: Preset) -> _Layers:
    asked = recipe(recipe_name)
    followed = asked.follows.get(model, asked.follows.get("default", recipe_name))
    source = recipe(followed)
    if source.training is None:
        raise UsageError(f"recipe '{followed}' has no training section and cannot be followed")
    layers = _Layers()
    layers.update(source.training.model_dump(), f"recipe {followed}: {source.source}")
    for overlay in (source.dataset.get(dataset), source.model.get(model)):
        if overlay is not None:
            layers.update(overlay.values(), f"recipe {followed}: {overlay.source}")
    layers.update(preset.training, "preset")
    layers.update(preset.dataset.get(dataset, Overlay()).values(), "preset")
    return layers


def _hyperparameter_layers(model: str, dataset: str, preset: Preset) -> _Layers:
    layers = _Layers()
    known = models.hyperparameters(model)
    layers.update({k: v for k, v in known.items() if k not in NOT_IN_KEY}, "the model's default")
    entry = models.entry(model)
    table = hyperparameter_table(entry.settings)
    if table is not None:
        layers.update(table.default, table.source)
        overlay = table.dataset.get(dataset, Overlay())
        layers.update(overlay.values(), overlay.source)
    layers.update(entry.overrides, f"variant {model}")
    layers.update({k: v for k, v in preset.hyperparameters.items() if k in layers.values}, "preset")
    return layers


def parse_assignments(texts: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``key=value`` texts; values are TOML (numbers, true, lists), anything else is a string.

    Raises
    ------
    UsageError
        A text has no equals sign.
    """
    parsed: dict[str, Any] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise UsageError(f"--set {text!r}: expected key=value, for example --set epochs=3")
        parsed[key] = _value(value)
    return parsed


def _value(text: str) -> Any:
    if text == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def check_assignments(assignments: Mapping[str, Any], model_names: list[str]) -> None:
    """Refuse keys that no training field, data field or asked model knows.

    Raises
    ------
    UsageError
        A key is unknown; the nearest one is offered.
    """
    known = {*Training.model_fields, *DataSettings.model_fields}
    for name in model_names:
        known.update(k for k in models.hyperparameters(name) if k not in NOT_IN_KEY)
    for key in assignments:
        if key not in known:
            raise unknown_name("setting", key, known)
