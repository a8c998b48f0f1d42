"""What a model's file says of itself, read without importing it."""

import ast
import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from bench.errors import ModelError
from bench.models.catalogue import ModelEntry

SHAPE_ARGUMENTS = ("n_channels", "n_times", "n_classes")


def path_of(entry: ModelEntry) -> Path:
    """Return the file of a model.

    Raises
    ------
    ModelError
        There is none.
    """
    if entry.path is not None:
        return entry.path
    spec = importlib.util.find_spec(entry.module)
    if spec is None or spec.origin is None:
        raise ModelError(f"model '{entry.name}' is registered but its module {entry.module} has no file")
    return Path(spec.origin)


def revision(entry: ModelEntry) -> int | str:
    """Return a model's revision: its file's REVISION, or for a user's own model the hash of the file.

    Raises
    ------
    ModelError
        A file of the package has no such line.
    """
    path = path_of(entry)
    if entry.path is not None:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    for node in _syntax_tree(path).body:
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
        except ValueError as error:
            raise ModelError(
                f"{path}: the default of '{argument}' must be a literal, it is part of the key"
            ) from error
        if default is None:
            raise ModelError(
                f"{path}: hyperparameter '{argument}' of {entry.class_name} needs a default value"
            )
    return {**defaults, **entry.overrides}


@cache
def _syntax_tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not readable as Python ({error})") from error


def _constructor_arguments(path: Path, class_name: str) -> list[tuple[str, ast.expr | None]]:
    for node in _syntax_tree(path).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return [
                        (a.arg, d) for a, d in zip(item.args.kwonlyargs, item.args.kw_defaults, strict=True)
                    ]
            raise ModelError(f"{path}: class {class_name} needs a constructor with keyword-only arguments")
    raise ModelError(f"{path}: no class {class_name}")
