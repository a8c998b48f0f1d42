"""The parts of an estimator's cell key: class, parameters, and the packages that its code comes from.

Seeds are left out, since the cell's seed replaces them, and so are parameters that affect the speed only.
"""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import PurePath
from typing import Any

from bench.errors import ModelError
from bench.models.source import SEEDS

REVISION = 1
"""Ours: how estimators are fed and seeded, and how their output becomes logits."""

EXECUTION = ("n_jobs", "verbose")

# The module name that `bench.plugins` gives a user's file; its hash of the path must not enter the key.
_PLUGIN = re.compile(r"bench_plugin_(.+)_[0-9a-f]{8}")


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The identity of an estimator, in JSON's types.

    ``parameters`` are those of ``get_params``; an estimator among them has ``class`` and ``parameters`` too.
    ``packages`` maps the installed packages of all classes met, bases included, to their versions.
    """

    class_path: str
    parameters: dict[str, Any]
    packages: dict[str, str]


def identify(estimator: Any) -> Identity:
    """Return the identity of an unfitted estimator.

    Raises
    ------
    ModelError
        A parameter cannot be written as JSON; the message names it.
    """
    telling = _Telling()
    description = telling.estimator(estimator, "")
    packages = dict(sorted(filter(None, map(package_of, telling.modules))))
    return Identity(class_path=description["class"], parameters=description["parameters"], packages=packages)


def settable(estimator: Any) -> dict[str, Any]:
    """Return the parameters that can be set one by one, in JSON's types; of an estimator inside as ``outer__inner``.

    Raises
    ------
    ModelError
        A parameter cannot be written as JSON; the message names it.
    """
    telling = _Telling()
    return {
        name: telling.value(value, name)
        for name, value in sorted(estimator.get_params().items())
        if name.rpartition("__")[2] not in (*SEEDS, *EXECUTION) and not _holds_estimator(value)
    }


def _holds_estimator(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_estimator, value))
    return hasattr(value, "get_params") and not isinstance(value, type)


def package_of(module: str) -> tuple[str, str] | None:
    """Return name and version of the installed package that provides a module, None where there is none."""
    names = _distributions().get(module.partition(".")[0], ())
    return (names[0], metadata.version(names[0])) if names else None


def path_of_class(kind: Any) -> str:
    """Return ``module:name`` of a class or function, a user's file by its stem."""
    module = getattr(kind, "__module__", None) or ""
    own = _PLUGIN.fullmatch(module)
    return f"{own.group(1) if own else module}:{getattr(kind, '__qualname__', None) or kind.__name__}"


@cache
def _distributions() -> Mapping[str, list[str]]:
    return {module: sorted(set(names)) for module, names in metadata.packages_distributions().items()}


@dataclass
class _Telling:
    """Turns parameters into JSON's types and notes the top modules of all classes met."""

    modules: set[str] = field(default_factory=set)

    def estimator(self, estimator: Any, where: str) -> dict[str, Any]:
        for base in type(estimator).__mro__:
            self._note(base)
        parameters = estimator.get_params(deep=False)
        return {
            "class": path_of_class(type(estimator)),
            "parameters": {
                name: self.value(parameters[name], f"{where}{name}")
                for name in sorted(parameters)
                if name not in (*SEEDS, *EXECUTION)
            },
        }

    def value(self, value: Any, where: str) -> Any:
        if hasattr(value, "tolist"):
            # NumPy's numbers and arrays, recognised without importing NumPy.
            value = value.tolist()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else repr(value)
        if isinstance(value, list | tuple):
            return [self.value(item, f"{where}[{index}]") for index, item in enumerate(value)]
        if isinstance(value, Mapping):
            return [
                [self.value(key, where), self.value(item, f"{where}[{key!r}]")] for key, item in value.items()
            ]
        if isinstance(value, PurePath):
            return str(value)
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        if hasattr(value, "get_params") and not isinstance(value, type):
            return self.estimator(value, f"{where}__")
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        if callable(value) and name.replace(".", "_").isidentifier():
            self._note(value)
            return path_of_class(value)
        raise ModelError(
            f"parameter {where} is {value!r}, which cannot be written into a cell's key; use a number, a text, an "
            "estimator or a function with a name"
        )

    def _note(self, kind: Any) -> None:
        top = (getattr(kind, "__module__", None) or "").partition(".")[0]
        if top and top not in sys.stdlib_module_names and top != "bench":
            self.modules.add(top)
