"""Models by name, free of torch until one is built; users register their own beside them."""

import importlib
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bench import plugins
from bench.errors import ModelError, UsageError, unknown_name
from bench.files import NAME_RULE, is_plain_name
from bench.models import source
from bench.models.catalogue import ENTRIES, ModelEntry

if TYPE_CHECKING:
    import torch
    from torch import nn

ENTRY_POINTS = "medmamba_bench.models"


@cache
def _table() -> dict[str, ModelEntry]:
    """Return the package's models and those of installed packages, by name."""
    table: dict[str, ModelEntry] = {}
    for model in ENTRIES:
        _add(table, model)
    for point in metadata.entry_points(group=ENTRY_POINTS):
        module, _, class_name = point.value.partition(":")
        distribution = point.dist.name if point.dist else point.value
        _add(table, _own(point.name, module, class_name, distribution=distribution))
    return table


def _add(table: dict[str, ModelEntry], model: ModelEntry) -> None:
    if not is_plain_name(model.name):
        raise ModelError(
            f"model {model.name[:60]!r}: cannot name folders and records; rename it or its file: use "
            f"{NAME_RULE}"
        )
    known = table.setdefault(model.name, model)
    if known != model:
        raise ModelError(
            f"model '{model.name}' is registered twice: by {known.module} and {model.module}; rename one"
        )


def register(model: ModelEntry) -> str:
    """Register a model and return its name; the same again changes nothing.

    Raises
    ------
    ModelError
        The name is taken, or cannot name a folder.
    """
    _add(_table(), model)
    return model.name


def _own(
    name: str, module: str, class_name: str, *, path: Path | None = None, distribution: str = ""
) -> ModelEntry:
    return ModelEntry(
        name=name,
        module=module,
        class_name=class_name,
        settings=name,
        family="user's own",
        paper="-",
        repository=str(path or distribution),
        commit="-",
        group="own",
        path=path,
        distribution=distribution,
    )


def register_file(spec: str) -> str:
    """Register a user's own model given as ``path/to/file.py:ClassName`` and return its name.

    Raises
    ------
    UsageError
        The text is not of that form, or there is no such file.
    ModelError
        The file has no such class, or the name is taken or cannot name a folder.
    """
    path, class_name = plugins.split_spec(spec)
    entry = _own(f"{path.stem}.{class_name}", plugins.module_name(path), class_name, path=path)
    source.hyperparameters(entry)
    return register(entry)


def names(*, all_only: bool = False) -> list[str]:
    """Return the registered names in alphabetical order; only those that ``all`` stands for if asked."""
    return sorted(name for name, model in _table().items() if model.in_all or not all_only)


def entry(name: str) -> ModelEntry:
    """Return the entry of a name.

    Raises
    ------
    UsageError
        The name is not registered; the message offers the nearest one.
    """
    if name not in _table():
        raise unknown_name("model", name, _table())
    return _table()[name]


def revision(name: str) -> int | str:
    """Return a model's revision, part of every cell's key, read without importing the model."""
    return source.revision(entry(name))


def hyperparameters(name: str) -> dict[str, Any]:
    """Return a model's hyperparameters and their defaults, read without importing the model."""
    return source.hyperparameters(entry(name))


def module_of(model: ModelEntry) -> ModuleType:
    """Import and return the module of a model, a user's own from its file."""
    return importlib.import_module(model.module) if model.path is None else plugins.load(model.path)


def build(name: str, n_channels: int, n_times: int, n_classes: int, **overrides: Any) -> "nn.Module":
    """Build a model by name.

    Parameters
    ----------
    name
        A registered name.
    n_channels, n_times, n_classes
        Shape of the task: inputs are ``(batch, n_times, n_channels)``, logits ``(batch, n_classes)``.
    **overrides
        Hyperparameters of the model's constructor.

    Raises
    ------
    UsageError
        The name or a hyperparameter is unknown.
    """
    found, known = entry(name), hyperparameters(name)
    for key in overrides:
        if key not in known:
            raise unknown_name(f"hyperparameter of {name}", key, known)
    settings = {**found.overrides, **overrides}
    return getattr(module_of(found), found.class_name)(
        n_channels=n_channels, n_times=n_times, n_classes=n_classes, **settings
    )


def load_reference_weights(model: "nn.Module", state_dict: "Mapping[str, torch.Tensor]") -> None:
    """Load a state dict of the published code into ``model``, strictly.

    Raises
    ------
    ModelError
        A tensor is missing, left over or of another shape; the message names it.
    UsageError
        The model's file defines no ``REFERENCE`` names.
    """
    from bench.models import reference_weights as reference

    names_of = getattr(importlib.import_module(type(model).__module__), "REFERENCE", None)
    if names_of is None:
        raise UsageError(f"{type(model).__name__} has no published code to load weights of")
    reference.load(model, state_dict, names_of)
