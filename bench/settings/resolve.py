"""One cell's settings from all their sources, each value with its origin.

Later sources win: the model's defaults, its published hyperparameters, the recipe, the preset, ``--set``. The values
that define a variant come last.
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError

from bench import datasets
from bench.attention import CHOICE as ATTENTION
from bench.errors import UsageError, unknown_name
from bench.models import registry as models
from bench.models.braindecode.described import RATE
from bench.models.catalogue import BraindecodeEntry
from bench.scan.dispatch import CHOICE as SCAN
from bench.settings.candidates import Candidate, candidates
from bench.settings.hyperparameters import USER, blamed, checked
from bench.settings.schema import PUBLISHED, DataSettings, Fitting, Frozen, Overlay, Preset, Training, Tuned
from bench.settings.tables import hyperparameter_table, recipe

# Ours: settings of a model that change how fast it runs and not what it computes; recorded, not in the key.
EXECUTION = {choice.what: choice for choice in (SCAN, ATTENTION)}


Control = Literal["shuffled-labels"]
"""What a control changes in a training, so that its scores must fall to chance."""


class AppliedPreset(Frozen):
    """The preset of a cell: whether it simulates its data, and its values for the dataset and for every model."""

    name: str
    simulated: bool
    training: dict[str, Any]
    hyperparameters: dict[str, Any]

    @classmethod
    def of(cls, preset: Preset, dataset: str) -> "AppliedPreset":
        """Return a preset as applied to a dataset."""
        training = preset.training | preset.dataset.get(dataset, Overlay()).values()
        return cls(
            name=preset.name,
            simulated=preset.simulated,
            training=training,
            hyperparameters=preset.hyperparameters,
        )


class CellSettings(Frozen):
    """All settings of one cell.

    ``training`` is a network's recipe, or the little that there is to say of an estimator's fit. ``execution`` changes
    the model's speed but not its results: it is no part of the key. ``origins`` says where each value comes from;
    ``changed`` names the values that differ because of the preset or the user. ``candidate`` is the number of the
    configuration that is being tried, for a training whose test part is never loaded; ``tuned`` says how the
    configuration of an ordinary cell was chosen. ``control`` names what was changed on purpose so that nothing can be
    learned: such a cell is no result.
    """

    model: str
    dataset: str
    seed: int
    recipe: str
    preset: AppliedPreset
    training: Training | Fitting
    hyperparameters: dict[str, Any]
    data: DataSettings
    execution: dict[str, Any]
    origins: dict[str, str]
    changed: tuple[str, ...]
    candidate: int | None = None
    tuned: Tuned | None = None
    control: Control | None = None

    @property
    def is_estimator(self) -> bool:
        """Whether the cell's model is an estimator: without epochs, batches and weights."""
        return isinstance(self.training, Fitting)

    @property
    def protocol(self) -> Training:
        """The recipe of a network's training.

        Raises
        ------
        UsageError
            The model is an estimator.
        """
        if isinstance(self.training, Fitting):
            raise UsageError(
                f"{self.model} is an estimator, which has no epochs and no batches; name a network"
            )
        return self.training


class _Layers:
    """Values under construction: later updates win, and the origin of each is kept."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}

    def update(self, values: Mapping[str, Any], origin: str) -> None:
        self.values.update(values)
        self.origins.update(dict.fromkeys(values, origin))

    def change(self, values: Mapping[str, Any], origin: str, *, but: Mapping[str, Any] | None = None) -> None:
        """Update existing values, except those to skip."""
        self.update({k: v for k, v in values.items() if k in self.values and k not in (but or {})}, origin)


class _CellLayers:
    """The four groups of one cell's settings: at first without preset and user, after `change` with them."""

    def __init__(self, model: str, dataset: str, recipe_name: str, candidate: Candidate | None) -> None:
        self.model = model
        self.is_estimator = models.is_estimator(model)
        self.training = (
            _fitting_layers() if self.is_estimator else _training_layers(model, dataset, recipe_name)
        )
        self.defaults = models.hyperparameters(model)
        self.hyper, self.execution = _model_layers(model, dataset, self.defaults)
        if candidate is not None:
            self.training.update(candidate.training, candidate.origin)
            self.hyper.change(candidate.hyperparameters, candidate.origin)
        self.data = _Layers()
        self.data.update(DataSettings().model_dump(), "default")

    @property
    def origins(self) -> dict[str, str]:
        groups = (self.training, self.hyper, self.data, self.execution)
        return {name: origin for group in groups for name, origin in group.origins.items()}

    def change(self, preset: AppliedPreset, assignments: Mapping[str, Any]) -> None:
        fixed, origin = models.entry(self.model).overrides, f"preset {preset.name}"
        (self.training.change if self.is_estimator else self.training.update)(preset.training, origin)
        self.hyper.change(preset.hyperparameters, origin, but=fixed)
        for group in (self.training, self.hyper, self.data, self.execution):
            group.change(assignments, USER, but=fixed)

    def checked(self) -> tuple[Training | Fitting, dict[str, Any], DataSettings]:
        """Return training, hyperparameters and data, each value in its own type."""
        for name, value in self.execution.values.items():
            EXECUTION[name].check_name(str(value))
        hyper = checked(self.model, self.defaults, self.hyper.values, self.hyper.origins)
        kind = Fitting if self.is_estimator else Training
        try:
            return kind(**self.training.values), hyper, DataSettings(**self.data.values)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            what = blamed(self.origins[name], name, first["input"]) if name in self.origins else USER
            raise UsageError(
                f"{what}: {first['msg'].removeprefix('Value error, ')}; see 'bench list settings'"
            ) from error

    def differing(self, other: "_CellLayers") -> tuple[str, ...]:
        """Return the names of the values that differ from another cell's."""
        ours, theirs = self._comparable(), other._comparable()
        return tuple(sorted(name for name, value in ours.items() if value != theirs[name]))

    def _comparable(self) -> dict[str, Any]:
        training, hyper, data = self.checked()
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in hyper.items()}
        return training.model_dump() | lists | data.model_dump() | self.execution.values


def resolve(
    model: str,
    dataset: str,
    seed: int,
    *,
    recipe_name: str,
    preset: Preset,
    assignments: Mapping[str, Any],
    candidate: Candidate | None = None,
) -> CellSettings:
    """Resolve the settings of one cell.

    Parameters
    ----------
    model, dataset, seed
        The cell.
    recipe_name
        Name of the training protocol.
    preset
        Its changes come after the recipe's.
    assignments
        The user's ``--set`` values, parsed. A hyperparameter that only other models have, or that defines the
        variant, is ignored; `check_assignments` has refused values that change none of the requested models.
    candidate
        The configuration of a recipe with a search; its values come after the recipe's.

    Raises
    ------
    UsageError
        A value is out of bounds or of the wrong type, or would have no effect.
    """
    layers = _CellLayers(model, dataset, recipe_name, candidate)
    applied = AppliedPreset.of(preset, dataset)
    layers.change(applied, assignments)
    training, hyperparameters, data = layers.checked()
    changed = layers.differing(_CellLayers(model, dataset, recipe_name, candidate))
    hyperparameters |= _augmentations_off(layers, training)
    return CellSettings(
        model=model,
        dataset=dataset,
        seed=seed,
        recipe=recipe_name,
        preset=applied,
        training=training,
        hyperparameters=hyperparameters,
        data=data,
        execution=layers.execution.values,
        origins=layers.origins,
        changed=changed,
    )


def candidates_of(model: str, dataset: str, recipe_name: str, number: int) -> tuple[Candidate, ...]:
    """Return the first configurations that a recipe with a search tries for a model; an estimator has its own only.

    Raises
    ------
    UsageError
        There are fewer.
    """
    search = recipe(recipe_name).search
    if search is None:
        raise UsageError(f"recipe '{recipe_name}' tries no configurations; use --recipe equal")
    if models.is_estimator(model):
        return (Candidate(1, "the estimator's own"),)
    return candidates(model, _training_layers(model, dataset, PUBLISHED).values, search, number)


def _fitting_layers() -> _Layers:
    layers = _Layers()
    layers.update(Fitting().model_dump(), "default")
    return layers


def _training_layers(model: str, dataset: str, recipe_name: str) -> _Layers:
    asked = recipe(recipe_name)
    followed, reason = asked.followed_by(model) or recipe_name, asked.reason_for(model)
    source = recipe(followed)
    if source.training is None:
        raise UsageError(f"recipe '{followed}' has no training section and cannot be followed")
    layers = _Layers()
    named = f"recipe {followed}" if reason is None else f"recipe {followed} ({reason})"
    layers.update(source.training.model_dump(), f"{named}: {source.source}")
    for overlay in (source.dataset.get(dataset), source.model.get(model)):
        if overlay is not None:
            layers.update(overlay.values(), f"{named}: {overlay.source}")
    return layers


def _model_layers(model: str, dataset: str, defaults: Mapping[str, Any]) -> tuple[_Layers, _Layers]:
    """Return a model's hyperparameters, and its execution settings."""
    hyper, execution = _Layers(), _Layers()
    for name, value in defaults.items():
        (execution if name in EXECUTION else hyper).update({name: value}, "the model's default")
    entry = models.entry(model)
    if isinstance(entry, BraindecodeEntry):
        hyper.change({RATE: datasets.facts(dataset).sampling_rate_hz}, "the dataset's sampling rate")
    table = hyperparameter_table(entry.settings)
    if table is not None:
        hyper.update(table.default, table.source)
        overlay = table.dataset.get(dataset, Overlay())
        hyper.update(overlay.values(), overlay.source)
    hyper.update(entry.overrides, f"variant {model}")
    return hyper, execution


def _augmentations_off(layers: _CellLayers, training: Training | Fitting) -> dict[str, Any]:
    """Set augmentations to none if the recipe disables them, so that equal trainings share a key."""
    hyper = layers.hyper
    if isinstance(training, Fitting) or training.augmentation or "augmentations" not in hyper.values:
        return {}
    asked, off = hyper.values["augmentations"], ["none"]
    why = layers.training.origins["augmentation"]
    if hyper.origins["augmentations"] == USER and asked != off:
        raise UsageError(
            f"--set augmentations={asked!r} has no effect: augmentation is false ({why}); add --set augmentation=true"
        )
    hyper.update({"augmentations": off}, f"no augmentation ({why})")
    return {"augmentations": off}


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
            raise UsageError(f"--set {text!r}: expected key=value, for example --set epochs=20")
        # For normalisation, "none" is a value of its own.
        parsed[key] = value if key == "normalisation" else _value(value)
    return parsed


def _value(text: str) -> Any:
    if text == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits, or brackets without end.
        raise UsageError(
            f"--set ...={text[:40]}...: not a value ({error}); give a plain number or word"
        ) from error


def check_assignments(assignments: Mapping[str, Any], model_names: Sequence[str]) -> None:
    """Refuse keys unknown to training, data and the requested models, and keys that every requested model fixes.

    Raises
    ------
    UsageError
        A key is unknown (the nearest one is offered), or would change none of the models.
    """
    with_epochs = not all(map(models.is_estimator, model_names))
    shared = {*(Training if with_epochs else Fitting).model_fields, *DataSettings.model_fields}
    free, fixed = set(shared), set()
    for name in model_names:
        overrides = models.entry(name).overrides
        free.update(models.hyperparameters(name).keys() - overrides.keys())
        fixed.update(overrides)
    for key, value in assignments.items():
        if key in fixed - free:
            raise UsageError(
                f"--set {key}={value!r}: {', '.join(model_names)} would no longer be the variant of that name; "
                "set it for medmamba"
            )
        if key not in free and key in Training.model_fields:
            raise UsageError(
                f"--set {key}={value!r}: {', '.join(model_names)} has no such setting: estimators are not trained in "
                "epochs; leave it out, or add a network to --models"
            )
        if key not in free:
            raise unknown_name("setting", key, free | fixed)
