"""What a model's file says of itself, read without importing it."""

import ast
import hashlib
import importlib.util
import json
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from bench import plugins
from bench.errors import ModelError
from bench.files import sha256_of
from bench.models.catalogue import ModelEntry

SHAPE_ARGUMENTS = ("n_channels", "n_times", "n_classes")
SEEDS = ("random_state", "seed", "random_seed")
"""Parameters of estimators that the cell's seed sets."""


def path_of(entry: ModelEntry) -> Path:
    """Return the file of a model.

    Raises
    ------
    ModelError
        There is none.
    """
    if entry.path is not None:
        return entry.path
    spec = _spec(entry.module)
    if spec is None or spec.origin is None:
        offered = f", offered by the installed package {entry.distribution}," if entry.is_own else ""
        remedy = f"; reinstall or remove {entry.distribution}" if entry.is_own else ""
        raise ModelError(f"model '{entry.name}'{offered} has no file: no module {entry.module}{remedy}")
    return Path(spec.origin)


def _spec(module: str) -> ModuleSpec | None:
    """Find a module without importing its parents, as `importlib.util.find_spec` does."""
    name, *inner = module.split(".")
    spec = importlib.util.find_spec(name)
    for part in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return spec


def revision(entry: ModelEntry) -> int | str:
    """Return a model's revision: its file's REVISION, or for a user's own model the hash of its source.

    The source of a file is that file and what it imports from beside it; of an installed package, all its Python
    files.

    Raises
    ------
    ModelError
        A file of the package has no such line.
    """
    path = path_of(entry)
    if entry.path is not None:
        return plugins.source_hash(path)
    if entry.is_own:
        return _package_hash(path, entry.module)
    for node in syntax_tree(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REVISION":
            return int(ast.literal_eval(node.value))
    raise ModelError(f"{path}: no line 'REVISION = <integer>'; add one, it is part of every cell's key")


def hyperparameters(entry: ModelEntry) -> dict[str, Any]:
    """Return a model's hyperparameters and their defaults, the entry's own overrides applied.

    Defaults must be literals, since they are part of every cell's key.

    Raises
    ------
    ModelError
        The file has no such class, or a hyperparameter without a literal default.
    """
    path = path_of(entry)
    defaults: dict[str, Any] = {}
    for argument, default in _constructor_arguments(path, entry.class_name):
        if argument in SHAPE_ARGUMENTS:
            continue
        try:
            defaults[argument] = ast.literal_eval(default) if default is not None else None
            json.dumps(defaults[argument], allow_nan=False)
        except (ValueError, TypeError) as error:
            raise ModelError(
                f"{path}: the default of '{argument}' must be a literal that JSON can hold, a number, text, list or "
                "None: it is part of the key and of the record"
            ) from error
        if default is None:
            raise ModelError(
                f"{path}: hyperparameter '{argument}' of {entry.class_name} needs a default value"
            )
    return {**defaults, **entry.overrides}


def _package_hash(path: Path, module: str) -> str:
    """Return the SHA-256 of all Python files of the top package of ``module``, whose own file is ``path``."""
    top = _spec(module.partition(".")[0])
    if top is None or not top.submodule_search_locations:
        return sha256_of(path)
    folder = Path(next(iter(top.submodule_search_locations)))
    lines = (f"{file.relative_to(folder)} {sha256_of(file)}\n" for file in sorted(folder.rglob("*.py")))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def has_network(path: Path, class_name: str) -> bool:
    """Tell whether a file has a class whose constructor takes the shape of the windows, as networks' do."""
    for node in syntax_tree(path).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            makers = [
                item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
            ]
            return any({arg.arg for arg in make.args.kwonlyargs} >= set(SHAPE_ARGUMENTS) for make in makers)
    return False


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file.

    Raises
    ------
    ModelError
        The file is no Python.
    """
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"{path}: not readable as Python ({error}); fix the file") from error


def _constructor_arguments(path: Path, class_name: str) -> list[tuple[str, ast.expr | None]]:
    for node in syntax_tree(path).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return [
                        (a.arg, d) for a, d in zip(item.args.kwonlyargs, item.args.kw_defaults, strict=True)
                    ]
            raise ModelError(f"{path}: class {class_name} needs a constructor with keyword-only arguments")
    raise ModelError(f"{path}: no class {class_name}")
