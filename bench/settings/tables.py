"""Reading the settings files that ship with the package."""

import tomllib
from functools import cache
from importlib import resources
from typing import TypeVar

from pydantic import ValidationError

from bench.errors import UsageError, unknown_name
from bench.settings.schema import Frozen, Hyperparameters, Preset, Recipe

Schema = TypeVar("Schema", bound=Frozen)


def _read(folder: str, name: str, schema: type[Schema]) -> Schema:
    path = resources.files("bench.settings") / folder / f"{name}.toml"
    try:
        return schema.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise UsageError(f"{path}: {error}; fix the file or reinstall the package") from error


def _names(folder: str) -> list[str]:
    files = (resources.files("bench.settings") / folder).iterdir()
    return sorted(path.name.removesuffix(".toml") for path in files if path.name.endswith(".toml"))


def recipe_names() -> list[str]:
    """Return the names of the recipes."""
    return _names("recipes")


def preset_names() -> list[str]:
    """Return the names of the presets."""
    return _names("presets")


@cache
def recipe(name: str) -> Recipe:
    """Return a recipe.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    if name not in recipe_names():
        raise unknown_name("recipe", name, recipe_names())
    return _read("recipes", name, Recipe)


@cache
def preset(name: str) -> Preset:
    """Return a preset.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    if name not in preset_names():
        raise unknown_name("preset", name, preset_names())
    return _read("presets", name, Preset).model_copy(update={"name": name})


@cache
def hyperparameter_table(model: str) -> Hyperparameters | None:
    """Return a model's published hyperparameters, or None without a file (a user's own model)."""
    return _read("models", model, Hyperparameters) if model in _names("models") else None
