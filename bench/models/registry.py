"""Models by name, networks and estimators; free of torch until one is built. Users register their own beside them."""

import importlib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bench import plugins
from bench.errors import ModelError, UsageError, unknown_name
from bench.files import NAME_RULE, is_plain_name
from bench.models import source
from bench.models.braindecode import described
from bench.models.catalogue import (
    BRAINDECODE,
    ENTRIES,
    ESTIMATORS,
    BraindecodeEntry,
    EstimatorEntry,
    Group,
    ModelEntry,
    braindecode_entry,
)

if TYPE_CHECKING:
    import torch
    from torch import nn

ENTRY_POINTS = "medmamba_bench.models"
ESTIMATOR_ENTRY_POINTS = "medmamba_bench.estimators"

# What else ``--models`` takes for several models at once.
GROUPS: Mapping[str, tuple[Group, ...]] = {
    "all": ("paper",),
    "paper": ("paper",),
    "variants": ("variant",),
    "beyond": ("beyond",),
    "classical": ("classical",),
    "braindecode": ("braindecode",),
    "everything": ("paper", "beyond", "classical"),
}


@cache
def _table() -> dict[str, ModelEntry]:
    """Return the package's models and those of installed packages, by name."""
    table: dict[str, ModelEntry] = {}
    for model in (*ENTRIES, *ESTIMATORS, *BRAINDECODE):
        _add(table, model)
    for group, make in ((ENTRY_POINTS, own_network), (ESTIMATOR_ENTRY_POINTS, own_estimator)):
        for point in metadata.entry_points(group=group):
            module, _, class_name = point.value.partition(":")
            distribution = point.dist.name if point.dist else point.value
            _add(table, make(point.name, module, class_name, distribution=distribution))
    return table


def _add(table: dict[str, ModelEntry], model: ModelEntry) -> None:
    if not is_plain_name(model.name):
        raise ModelError(
            f"model {model.name[:60]!r}: cannot name folders and records; rename it or its file: use "
            f"{NAME_RULE}"
        )
    known = table.get(model.name, model)
    if known != model:
        raise ModelError(
            f"model '{model.name}' is registered twice: by {known.module} and {model.module}; rename one"
        )
    table[model.name] = model


def register(model: ModelEntry) -> str:
    """Register a model and return its name; the same again adds an estimator's parameters where they are known by now.

    Raises
    ------
    ModelError
        The name is taken, or cannot name a folder.
    """
    _add(_table(), model)
    return model.name


def own_network(
    name: str, module: str, class_name: str, *, path: Path | None = None, distribution: str = ""
) -> ModelEntry:
    """Return the entry of a user's own network, from a file or an installed package."""
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


def own_estimator(
    name: str,
    module: str,
    class_name: str,
    *,
    path: Path | None = None,
    distribution: str = "",
    provider: str = "",
) -> EstimatorEntry:
    """Return the entry of a user's own estimator, from a file or an installed package."""
    return EstimatorEntry(
        name=name,
        module=module,
        class_name=class_name,
        family="user's own",
        paper="-",
        repository=str(path or distribution),
        group="own",
        path=path,
        distribution=distribution,
        provider=provider,
    )


def register_file(spec: str) -> str:
    """Register a user's own network given as ``path/to/file.py:ClassName`` and return its name.

    Raises
    ------
    UsageError
        The text is not of that form, or there is no such file.
    ModelError
        The file has no such class, or the name is taken or cannot name a folder.
    """
    path, class_name = plugins.split_spec(spec)
    entry = own_network(f"{path.stem}.{class_name}", plugins.module_name(path), class_name, path=path)
    source.hyperparameters(entry)
    return register(entry)


def register_braindecode(class_name: str) -> str:
    """Register a class of braindecode and return its name.

    Raises
    ------
    UsageError
        braindecode is not installed, or has no such class.
    ModelError
        The constructor of the class does not take the shape of a window.
    """
    listed = [known for known in BRAINDECODE if known.class_name == class_name]
    found = listed[0] if listed else braindecode_entry(class_name)
    described.hyperparameters(class_name)
    return register(found)


def names(*, all_only: bool = False) -> list[str]:
    """Return the networks' names in alphabetical order; only those that ``all`` stands for if asked.

    Networks of braindecode are left out: it need not be installed.
    """
    left_out = (EstimatorEntry, BraindecodeEntry)
    networks = {name: model for name, model in _table().items() if not isinstance(model, left_out)}
    return sorted(name for name, model in networks.items() if model.in_all or not all_only)


def braindecode_names() -> list[str]:
    """Return the names of braindecode's networks in alphabetical order, whether it is installed or not."""
    return sorted(name for name, model in _table().items() if isinstance(model, BraindecodeEntry))


def estimator_names() -> list[str]:
    """Return the estimators' names in alphabetical order."""
    return sorted(name for name, model in _table().items() if isinstance(model, EstimatorEntry))


def matching(text: str) -> list[str]:
    """Return the models that a group's name or a pattern such as ``medmamba*`` stands for; none if it is neither."""
    if text in GROUPS:
        return sorted(name for name, model in _table().items() if model.group in GROUPS[text])
    is_pattern = any(mark in text for mark in "*?[")
    return sorted(name for name in _table() if fnmatchcase(name, text)) if is_pattern else []


def is_estimator(name: str) -> bool:
    """Tell whether a registered name is that of an estimator rather than a network."""
    return isinstance(entry(name), EstimatorEntry)


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
    """Return a model's revision, part of every cell's key, read without importing the model.

    It is the REVISION of the package's own, name and version of an installed package whose class a user has named
    (of braindecode with the adapter's REVISION), and for everything else the hash of its source.
    """
    known = entry(name)
    if isinstance(known, BraindecodeEntry):
        return described.revision()
    provider = known.provider if isinstance(known, EstimatorEntry) else ""
    return provider or source.revision(known)


def hyperparameters(name: str) -> dict[str, Any]:
    """Return a model's hyperparameters and their defaults, read without importing the model.

    Those of a user's own estimator are known once `bench.estimators.registry.tell` has built it.
    """
    known = entry(name)
    if isinstance(known, BraindecodeEntry):
        return described.hyperparameters(known.class_name)
    if not isinstance(known, EstimatorEntry):
        return source.hyperparameters(known)
    if known.parameters is not None:
        return dict(known.parameters)
    found = source.hyperparameters(known)
    return {key: value for key, value in found.items() if key not in source.SEEDS}


def module_of(model: ModelEntry) -> ModuleType:
    """Import and return the module of a model, a user's own from its file."""
    return importlib.import_module(model.module) if model.path is None else plugins.load(model.path)


def maker_of(model: ModelEntry) -> "Callable[..., nn.Module]":
    """Import and return what builds a network: its class, or the adapter of a class of braindecode."""
    if isinstance(model, BraindecodeEntry):
        from bench.models.braindecode.adapter import Adapted

        return partial(Adapted, model.class_name)
    return getattr(module_of(model), model.class_name)


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
        The name or a hyperparameter is unknown, the name is an estimator's, or braindecode is not installed.
    ModelError
        A network of braindecode does not fit the shape.
    """
    if is_estimator(name):
        raise UsageError(f"{name} is an estimator: it is fitted and keeps no weights; name a network")
    found, known = entry(name), hyperparameters(name)
    for key in overrides:
        if key not in known:
            raise unknown_name(f"hyperparameter of {name}", key, known)
    settings = {**found.overrides, **overrides}
    return maker_of(found)(n_channels=n_channels, n_times=n_times, n_classes=n_classes, **settings)


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
