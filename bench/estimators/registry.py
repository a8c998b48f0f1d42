"""Estimators by name, free of scikit-learn until one is built; users name classes of their own or of any package."""

import importlib
import importlib.util
import inspect
from functools import cache
from importlib import metadata
from typing import Any

from bench import plugins
from bench.errors import ModelError, UsageError, unknown_name
from bench.estimators.catalogue import ENTRIES, EstimatorEntry
from bench.estimators.identity import SEEDS, Identity, identify, package_of
from bench.models import source

ENTRY_POINTS = "medmamba_bench.estimators"


@cache
def _table() -> dict[str, EstimatorEntry]:
    """Return the package's estimators and those of installed packages, by name."""
    table: dict[str, EstimatorEntry] = {}
    for known in ENTRIES:
        _add(table, known)
    for point in metadata.entry_points(group=ENTRY_POINTS):
        module, _, class_name = point.value.partition(":")
        distribution = point.dist.name if point.dist else point.value
        _add(table, _own(point.name, module, class_name, distribution=distribution, repository=distribution))
    return table


def _add(table: dict[str, EstimatorEntry], new: EstimatorEntry) -> None:
    known = table.setdefault(new.name, new)
    if known != new:
        raise ModelError(
            f"estimator '{new.name}' is registered twice: by {known.module} and {new.module}; rename one"
        )


def register(new: EstimatorEntry) -> str:
    """Register an estimator and return its name; the same again changes nothing.

    Raises
    ------
    ModelError
        The name is taken.
    """
    _add(_table(), new)
    return new.name


def resolve(text: str) -> str:
    """Return the name of the estimator that a text means, registering a user's own.

    Parameters
    ----------
    text
        A registered name, ``path/to/file.py:Name`` or ``package.module:Name``; ``Name`` is a class, or a function
        that returns an estimator.

    Raises
    ------
    UsageError
        The text is none of that, or there is no such file or package.
    ModelError
        The name is taken.
    """
    where, colon, _ = text.rpartition(":")
    if not colon:
        return entry(text).name
    if where.endswith(".py") or "/" in where:
        path, name = plugins.split_spec(text)
        return register(
            _own(f"{path.stem}.{name}", plugins.module_name(path), name, path=path, repository=str(path))
        )
    return register(_named(text))


def _named(text: str) -> EstimatorEntry:
    """Return the entry of ``package.module:Name``, without importing it."""
    module, _, name = text.partition(":")
    if not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise UsageError(
            f"{text!r}: expected package.module:Name, for example sklearn.ensemble:HistGradientBoostingClassifier"
        )
    top = module.partition(".")[0]
    if importlib.util.find_spec(top) is None:
        raise UsageError(f"{text!r}: no module {top}; install the package that has it, or check the spelling")
    package = package_of(module)
    distribution = package[0] if package else module
    provider = " ".join(package or ())
    return _own(
        f"{top}.{name}", module, name, distribution=distribution, provider=provider, repository=distribution
    )


def _own(name: str, module: str, class_name: str, **more: Any) -> EstimatorEntry:
    return EstimatorEntry(
        name=name, module=module, class_name=class_name, family="user's own", paper="-", **more
    )


def names() -> list[str]:
    """Return the registered names in alphabetical order."""
    return sorted(_table())


def entry(name: str) -> EstimatorEntry:
    """Return the entry of a name.

    Raises
    ------
    UsageError
        The name is not registered; the message offers the nearest one.
    """
    if name not in _table():
        raise unknown_name("estimator", name, _table())
    return _table()[name]


def revision(name: str) -> int | str:
    """Return an estimator's revision, part of every cell's key, read without importing it.

    It is the REVISION of the package's own, name and version of an installed package whose class a user has named, and
    for everything else the hash of its source.
    """
    known = entry(name)
    return known.provider or source.revision(known)


def identity(name: str, **overrides: Any) -> Identity:
    """Return the other parts of the key: class, parameters and packages; imports the estimator.

    Raises
    ------
    UsageError, ModelError
        The estimator cannot be built, or a parameter cannot be written as JSON.
    """
    return identify(build(name, **overrides))


def build(name: str, **overrides: Any) -> Any:
    """Build an unfitted estimator by name.

    Parameters
    ----------
    name
        A registered name.
    **overrides
        Parameters of the constructor, or of an estimator inside as ``outer__inner``.

    Raises
    ------
    UsageError
        The name or a parameter is unknown, or the parameter is a seed.
    ModelError
        There is no such class, it needs parameters that are not given, or it makes no estimator.
    """
    from bench.estimators.contract import require_estimator

    for key in overrides:
        if key.rpartition("__")[2] in SEEDS:
            raise UsageError(f"{name}: {key} is set from the cell's seed; choose seeds with --seeds instead")
    known = entry(name)
    make = _maker(known)
    outer = {key: value for key, value in overrides.items() if "__" not in key}
    _require_call(make, name, outer)
    estimator = make(**outer)
    require_estimator(estimator)
    inner = {key: value for key, value in overrides.items() if "__" in key}
    parameters = estimator.get_params()
    for key in inner:
        if key not in parameters:
            raise unknown_name(f"parameter of {name}", key, parameters)
    return estimator.set_params(**inner) if inner else estimator


def _maker(known: EstimatorEntry) -> Any:
    """Import and return the class, or the function, that makes an estimator."""
    if known.path is not None:
        module, where = plugins.load(known.path), str(known.path)
    else:
        where = known.module
        try:
            module = importlib.import_module(known.module)
        except ImportError as error:
            raise ModelError(
                f"estimator '{known.name}': {where} cannot be imported ({error}); install it"
            ) from error
    make = getattr(module, known.class_name, None)
    if not callable(make):
        raise ModelError(f"{where}: no class or function {known.class_name}")
    return make


def _require_call(make: Any, name: str, given: dict[str, Any]) -> None:
    """Refuse parameters unknown to a constructor, and missing required ones."""
    parameters = inspect.signature(make).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    for key in given:
        if key not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise unknown_name(f"parameter of {name}", key, parameters)
    for key, parameter in parameters.items():
        open_ended = parameter.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        if parameter.default is inspect.Parameter.empty and key not in given and not open_ended:
            raise ModelError(
                f"{name} needs a value for '{key}'; write a function that returns the estimator you mean, in a file "
                "of your own, and name it as FILE.py:function"
            )
