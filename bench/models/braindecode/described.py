"""What the source of the installed package braindecode says of its networks; imports neither it nor torch."""

import ast
import importlib.util
import json
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.errors import ModelError, UsageError, unknown_name
from bench.models.source import syntax_tree

SHAPE_ARGUMENTS = ("n_chans", "n_outputs", "n_times")
"""What a network is given of its task; one that does not take them cannot be adapted."""
RATE = "sfreq"
"""The hyperparameter that holds the sampling rate of the windows, in Hz."""
# What follows from the shape and the rate.
_DERIVED = ("chs_info", "input_window_seconds")
_ADAPTER = Path(__file__).with_name("adapter.py")


def version() -> str:
    """Return the version of braindecode.

    Raises
    ------
    UsageError
        It is not installed.
    """
    _folder()
    return metadata.version("braindecode")


def revision() -> str:
    """Return what a cell's key knows of the code of a network: braindecode's version, and the adapter's REVISION.

    Raises
    ------
    UsageError
        braindecode is not installed.
    """
    (ours,) = (
        ast.literal_eval(node.value)
        for node in syntax_tree(_ADAPTER).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REVISION"
    )
    return f"braindecode {version()}, adapter {ours}"


def hyperparameters(class_name: str) -> dict[str, Any]:
    """Return the parameters of a network that ``--set`` can change, with their defaults.

    They are those whose default is a number, a text, a list or None; functions and layers stay as braindecode has
    them.

    Raises
    ------
    UsageError
        braindecode is not installed, or has no such class.
    ModelError
        The constructor does not take the shape of a window.
    """
    arguments = _constructor_arguments(class_name)
    lacking = [name for name in SHAPE_ARGUMENTS if name not in arguments]
    if lacking:
        raise ModelError(
            f"braindecode:{class_name}: its constructor takes no {lacking[0]}; name a class that takes "
            f"{', '.join(SHAPE_ARGUMENTS)}, see 'bench list models'"
        )
    free = {name: default for name, default in arguments.items() if name not in (*SHAPE_ARGUMENTS, *_DERIVED)}
    return {name: ast.literal_eval(default) for name, default in free.items() if _is_plain(default)}


def _folder() -> Path:
    found = importlib.util.find_spec("braindecode")
    if found is None or not found.submodule_search_locations:
        raise UsageError(
            "networks of braindecode need the package braindecode, which is not installed; install medmamba-bench with "
            "the extra 'braindecode'"
        )
    return Path(found.submodule_search_locations[0]) / "models"


def _constructor_arguments(class_name: str) -> dict[str, ast.expr]:
    """Return the parameters of a constructor that have a default, with its expression."""
    for node in syntax_tree(_file_of(class_name)).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    given = item.args
                    last = given.args[len(given.args) - len(given.defaults) :]
                    pairs = [*zip(last, given.defaults, strict=True)]
                    pairs += [
                        (argument, default)
                        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
                        if default is not None
                    ]
                    return {argument.arg: default for argument, default in pairs}
    return {}


def _file_of(class_name: str) -> Path:
    """Return the file of a class that ``braindecode.models`` offers."""
    folder = _folder()
    files = {
        name.asname or name.name: folder / f"{node.module}.py"
        for node in syntax_tree(folder / "__init__.py").body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for name in node.names
    }
    if class_name not in files:
        raise unknown_name(f"network of braindecode {version()}", class_name, files)
    return files[class_name]


def _is_plain(default: ast.expr) -> bool:
    try:
        json.dumps(ast.literal_eval(default), allow_nan=False)
    except (ValueError, TypeError):
        return False
    return True
