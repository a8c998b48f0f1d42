"""A reproducible benchmark of MedMamba and eleven transformers on medical time series."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.api import build, load_dataset, predictions, results, run

__version__ = "0.1.0"
__all__ = ["build", "load_dataset", "predictions", "results", "run"]

_ROOMS = ("results", "run")
"""Functions that share their name with a room: what bears the name is the room, and it can be called."""


class _CallableRoom(ModuleType):
    """A room that is called as the function of its name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of `bench.api` that has the room's name."""
        return getattr(import_module("bench.api"), self.__name__.removeprefix("bench."))(*args, **kwargs)


class _Package(ModuleType):
    """The package; whoever imports a room first, it can be called."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ROOMS and isinstance(value, ModuleType):
            value.__class__ = _CallableRoom
        super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    """Import what is asked for first: ``import bench`` itself is instant.

    Raises
    ------
    AttributeError
        The package has no such name.
    """
    if name in _ROOMS:
        return import_module(f"bench.{name}")
    if name in __all__:
        return getattr(import_module("bench.api"), name)
    raise AttributeError(f"module 'bench' has no attribute '{name}'")


sys.modules[__name__].__class__ = _Package
