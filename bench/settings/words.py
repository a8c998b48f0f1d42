"""The description of every setting, from the fields and constructors that define it."""

import types
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from bench.models import registry as models
from bench.settings.resolve import EXECUTION
from bench.settings.schema import DataSettings, Fitting, Training

_TYPES = {int: "whole number", float: "number", bool: "true or false", str: "text"}
_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


class SettingInWords(NamedTuple):
    """A setting that ``--set`` takes: its values, its owner, and its meaning."""

    name: str
    values: str
    of: str
    meaning: str


def settings_in_words(model: str | None = None) -> list[SettingInWords]:
    """Return the settings of training and data, and those of a model if given.

    Raises
    ------
    UsageError
        The model is not registered.
    """
    training = Fitting if model is not None and models.is_estimator(model) else Training
    rows = [
        SettingInWords(name, _values(field), of, field.description or "")
        for of, group in (("training", training), ("data", DataSettings))
        for name, field in group.model_fields.items()
    ]
    if model is not None:
        entry = models.entry(model)
        rows += [
            SettingInWords(name, *_of_model(name, default), f"default {_text(default)}")
            for name, default in models.hyperparameters(model).items()
            if name not in entry.overrides
        ]
    return rows


def _of_model(name: str, default: Any) -> tuple[str, str]:
    if name in EXECUTION:
        return " | ".join(("auto", *EXECUTION[name].names)), "execution, not in the key"
    if isinstance(default, list | tuple):
        return "list", "model"
    return _TYPES.get(type(default), "anything"), "model"


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


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
