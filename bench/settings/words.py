"""The description of every setting, from the fields and constructors that define it."""

import json
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from bench import datasets
from bench.models import registry as models
from bench.settings.resolve import EXECUTION, resolve
from bench.settings.schema import PUBLISHED, DataSettings, Fitting, Training
from bench.settings.tables import preset

_TYPES = {int: "whole number", float: "number", bool: "true or false", str: "text"}
_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


class SettingInWords(NamedTuple):
    """A setting that ``--set`` takes: its values, its default, its owner, and its meaning."""

    name: str
    values: str
    default: str
    of: str
    meaning: str


def settings_in_words(model: str | None = None) -> list[SettingInWords]:
    """Return the settings of training and data, and those of a model if given.

    Defaults are those of the recipe published on the paper's datasets, of all networks of the paper without a model.

    Raises
    ------
    UsageError
        The model is not registered.
    """
    training = Fitting if model is not None and models.is_estimator(model) else Training
    defaults = _defaults([model] if model is not None else models.names(all_only=True))
    rows = [
        SettingInWords(name, _values(field), defaults[name], of, field.description or "")
        for of, group in (("training", training), ("data", DataSettings))
        for name, field in group.model_fields.items()
    ]
    if model is not None:
        entry = models.entry(model)
        rows += [
            SettingInWords(name, *_of_model(name, default, defaults[name]))
            for name, default in models.hyperparameters(model).items()
            if name not in entry.overrides
        ]
    return rows


def _defaults(names: Sequence[str]) -> dict[str, str]:
    """Return the published value of every setting of some models; what it depends on where there are several."""
    found: dict[str, dict[str, set[str]]] = {}
    for model in names:
        for dataset in datasets.names(all_only=True):
            cell = resolve(model, dataset, 41, recipe_name=PUBLISHED, preset=preset("paper"), assignments={})
            values = {
                **cell.training.model_dump(),
                **cell.data.model_dump(),
                **cell.hyperparameters,
                **cell.execution,
            }
            for name, value in values.items():
                found.setdefault(name, {}).setdefault(model, set()).add(text_of(name, value))
    return {name: _in_one(of_models) for name, of_models in found.items()}


def _in_one(of_models: Mapping[str, Collection[str]]) -> str:
    """Return the value that all models have on all datasets, or what it depends on."""
    if len({value for values in of_models.values() for value in values}) == 1:
        return next(value for values in of_models.values() for value in values)
    return "by dataset" if len(of_models) == 1 else "by model"


def _of_model(name: str, built: Any, default: str) -> tuple[str, str, str, str]:
    """Return values, default, owner and meaning of a hyperparameter, ``built`` being its constructor's default."""
    if name in EXECUTION:
        what = "the implementation; changes only the speed, and is not in the key"
        return " | ".join(("auto", *EXECUTION[name].names)), default, "execution", what
    values = "list" if isinstance(built, list | tuple) else _TYPES.get(type(built), "anything")
    return (
        values,
        default,
        "model",
        f"a parameter of the model's constructor, by default {text_of(name, built)}",
    )


def _values(field: FieldInfo) -> str:
    kinds = dict.fromkeys(_kinds(field.annotation))
    bounds = [
        f"{sign} {value:g}"
        for mark in field.metadata
        for name, sign in _BOUNDS.items()
        if (value := getattr(mark, name, None)) is not None
    ]
    return " ".join([" | ".join(kinds), ", ".join(bounds)]).strip()


def _kinds(annotation: Any) -> list[str]:
    """Return the alternatives of a type, in the words of the command line."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for arg in get_args(annotation) for kind in _kinds(arg)]
    if get_origin(annotation) is Literal:
        return [str(arg) for arg in get_args(annotation)]
    return ["none"] if annotation is type(None) else [_TYPES[annotation]]


def text_of(name: str, value: Any) -> str:
    """Return the value of a setting as ``--set`` takes it."""
    if value is None:
        # To --set, normalisation=none is the value "none": windows as they are.
        return "the dataset's own" if name == "normalisation" else "none"
    return value if isinstance(value, str) else json.dumps(list(value) if isinstance(value, tuple) else value)
