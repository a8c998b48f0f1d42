"""The table of models, free of torch until a model is built."""

import ast
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.errors import ModelError, UsageError, unknown_name

if TYPE_CHECKING:
    import torch
    from torch import nn

MEDFORMER_REPOSITORY = "DL4mHealth/Medformer"
MEDFORMER_PAPER_COMMIT = "446275f"
MEDFORMER_LATEST_COMMIT = "891f65b"
MEDMAMBA_REPOSITORY = "miraclehetech/MedMamba"
MEDMAMBA_COMMIT = "5f13ea1"

SHAPE_ARGUMENTS = ("n_channels", "n_times", "n_classes")


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """What the registry knows of a model without importing it.

    ``settings`` names the file of published hyperparameters. ``overrides`` turn a class into a named variant.
    ``in_all`` says whether ``--models all`` runs it. ``batch_statistics`` marks a model whose arithmetic in
    training depends on how many windows share a forward pass, so that a micro-batch is part of a cell's key.
    """

    name: str
    module: str
    class_name: str
    settings: str
    family: str
    paper: str
    repository: str
    commit: str
    notes: str = ""
    in_all: bool = True
    batch_statistics: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)


def _transformer(
    class_name: str, paper: str, notes: str = "", *, batch_statistics: bool = False
) -> ModelEntry:
    name = class_name.lower()
    return ModelEntry(
        name=name,
        module=f"bench.models.{name}",
        class_name=class_name,
        settings=name,
        family="transformer",
        paper=paper,
        repository=MEDFORMER_REPOSITORY,
        commit=MEDFORMER_PAPER_COMMIT,
        notes=notes,
        batch_statistics=batch_statistics,
    )


def _medmamba(suffix: str = "", notes: str = "", **overrides: Any) -> ModelEntry:
    return ModelEntry(
        name=f"medmamba{suffix}",
        module="bench.models.medmamba",
        class_name="MedMamba",
        settings="medmamba",
        family="state space",
        paper="He et al., MedMamba: Recasting Mamba for Medical Time Series Classification",
        repository=MEDMAMBA_REPOSITORY,
        commit=MEDMAMBA_COMMIT,
        notes=notes,
        in_all=not suffix,
        batch_statistics=True,
        overrides=overrides,
    )


_ENTRIES = [
    _medmamba(),
    _medmamba("-single-scale", "ablation", strides=(5,)),
    _medmamba("-unidirectional", "ablation", bidirectional=False),
    _medmamba("-no-channel-mixing", "ablation", channel_mixing=False),
    _transformer("Autoformer", "Wu et al., Autoformer, NeurIPS 2021", batch_statistics=True),
    _transformer("Crossformer", "Zhang & Yan, Crossformer, ICLR 2023"),
    _transformer("FEDformer", "Zhou et al., FEDformer, ICML 2022", "Fourier version, random modes"),
    _transformer("Informer", "Zhou et al., Informer, AAAI 2021", "draws random numbers in evaluation"),
    _transformer("iTransformer", "Liu et al., iTransformer, ICLR 2024"),
    _transformer(
        "MTST",
        "Zhang et al., Multi-resolution Time-Series Transformer, AISTATS 2024",
        "as in the Medformer repository, not the published architecture",
    ),
    _transformer("Nonformer", "Liu et al., Non-stationary Transformers, NeurIPS 2022"),
    _transformer("PatchTST", "Nie et al., PatchTST, ICLR 2023"),
    _transformer("Reformer", "Kitaev et al., Reformer, ICLR 2020", "draws random numbers in evaluation"),
    _transformer("Transformer", "Vaswani et al., Attention Is All You Need, NeurIPS 2017"),
    _transformer("Medformer", "Wang et al., Medformer, NeurIPS 2024", "the paper's version"),
    ModelEntry(
        name="medformer-latest",
        module="bench.models.medformer_latest",
        class_name="MedformerLatest",
        settings="medformer-latest",
        family="transformer",
        paper="Wang et al., Medformer, NeurIPS 2024",
        repository=MEDFORMER_REPOSITORY,
        commit=MEDFORMER_LATEST_COMMIT,
        notes="the repository's later version, recommended by its authors",
        in_all=False,
    ),
]


def _table(entries: list[ModelEntry]) -> dict[str, ModelEntry]:
    table: dict[str, ModelEntry] = {}
    for one in entries:
        if one.name in table:
            raise ModelError(
                f"model '{one.name}' is registered twice: by {table[one.name].module} and {one.module}"
            )
        table[one.name] = one
    return table


_TABLE = _table(_ENTRIES)


def names(*, all_only: bool = False) -> list[str]:
    """Return the registered names in alphabetical order; only those that ``all`` stands for if asked."""
    return sorted(name for name, one in _TABLE.items() if one.in_all or not all_only)


def entry(name: str) -> ModelEntry:
    """Return the entry of a name.

    Raises
    ------
    UsageError
        The name is not registered; the message offers the nearest one.
    """
    if name not in _TABLE:
        raise unknown_name("model", name, _TABLE)
    return _TABLE[name]


@cache
def _syntax_tree(name: str) -> tuple[ast.Module, str]:
    spec = importlib.util.find_spec(entry(name).module)
    if spec is None or spec.origin is None:
        raise ModelError(f"model '{name}' is registered but its module {entry(name).module} has no file")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8")), spec.origin


def revision(name: str) -> int:
    """Return the REVISION constant of a model's file, read without importing it.

    Raises
    ------
    ModelError
        The file has no such line.
    """
    tree, path = _syntax_tree(name)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REVISION":
            return int(ast.literal_eval(node.value))
    raise ModelError(f"{path}: no line 'REVISION = <integer>'; add one, it is part of every cell's key")


def hyperparameters(name: str) -> dict[str, Any]:
    """Return a model's hyperparameters and their defaults, read without importing it.

    Defaults must be literals, since they are part of every cell's key. The entry's own overrides are applied.

    Raises
    ------
    ModelError
        The constructor has a hyperparameter without a literal default.
    """
    tree, path = _syntax_tree(name)
    defaults: dict[str, Any] = {}
    for argument, default in _constructor_arguments(tree, entry(name).class_name):
        if argument in SHAPE_ARGUMENTS:
            continue
        try:
            defaults[argument] = ast.literal_eval(default) if default is not None else None
        except ValueError as error:
            raise ModelError(
                f"{path}: the default of '{argument}' must be a literal, it is part of the key"
            ) from error
    return {**defaults, **entry(name).overrides}


def _constructor_arguments(tree: ast.Module, class_name: str) -> list[tuple[str, ast.expr | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return [
                        (a.arg, d) for a, d in zip(item.args.kwonlyargs, item.args.kw_defaults, strict=True)
                    ]
    raise ModelError(f"class {class_name} with a keyword-only constructor not found in its module")


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
    known = hyperparameters(name)
    for key in overrides:
        if key not in known:
            raise unknown_name(f"hyperparameter of {name}", key, known)
    cls = getattr(importlib.import_module(entry(name).module), entry(name).class_name)
    settings = {**entry(name).overrides, **overrides}
    return cls(n_channels=n_channels, n_times=n_times, n_classes=n_classes, **settings)


def load_reference_weights(model: "nn.Module", state_dict: "Mapping[str, torch.Tensor]") -> None:
    """Load a state dict of the published code into ``model``, strictly.

    Raises
    ------
    ModelError
        A tensor is missing, left over or of another shape; the message names it.
    UsageError
        The model's file defines no ``REFERENCE`` names.
    """
    from bench.models import reference

    names_of = getattr(importlib.import_module(type(model).__module__), "REFERENCE", None)
    if names_of is None:
        raise UsageError(f"{type(model).__name__} has no published code to load weights of")
    reference.load(model, state_dict, names_of)
