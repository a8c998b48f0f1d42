"""Users' own estimators by file or class, and the building of any estimator; names and entries are the models'."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench import plugins
from bench.errors import ModelError, UsageError, unknown_name
from bench.estimators.identity import Identity, identify, package_of, settable
from bench.models import registry as models
from bench.models import source
from bench.models.catalogue import EstimatorEntry, ModelEntry


def is_own(text: str) -> bool:
    """Tell whether a name on the command line means a file or a class rather than a registered name."""
    return plugins.is_file(text) or ":" in text


def register_own(text: str) -> str:
    """Register a user's own model and return its name; its class decides whether it is a network or an estimator.

    A file is imported only where its source does not show a network's constructor.

    Parameters
    ----------
    text
        ``path/to/file.py:Name`` or ``package.module:Name``; ``Name`` is a class, or a function that returns an
        estimator. ``braindecode:Name`` is a network of that package.

    Raises
    ------
    UsageError
        The text is none of that, or there is no such file or package.
    ModelError
        The name is taken, or what has it makes neither a network nor an estimator.
    """
    where, _, class_name = text.rpartition(":")
    if where in ("braindecode", "braindecode.models"):
        return models.register_braindecode(class_name)
    if where and not where.endswith(".py") and "/" not in where:
        return _registered(_named(text))
    path, name = plugins.split_spec(text)
    if source.has_network(path, name):
        return models.register_file(text)
    own = models.own_estimator(f"{path.stem}.{name}", plugins.module_name(path), name, path=path)
    return _registered(own)


def _registered(own: EstimatorEntry) -> str:
    if not _is_network(_maker(own)):
        models.register(own)
        tell(own.name)
        return own.name
    network = models.own_network(
        own.name, own.module, own.class_name, path=own.path, distribution=own.distribution
    )
    source.hyperparameters(network)
    return models.register(network)


def _is_network(make: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(make, type) and issubclass(make, torch.nn.Module)


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
    return models.own_estimator(
        f"{top}.{name}",
        module,
        name,
        distribution=package[0] if package else module,
        provider=" ".join(package or ()),
    )


def tell(name: str) -> None:
    """Have the models' registry know the parameters of an estimator that is not the package's: it is built once.

    Raises
    ------
    ModelError
        It cannot be built, or a parameter cannot be written as JSON.
    """
    known = entry(name)
    if known.is_own and known.parameters is None:
        models.register(replace(known, parameters=settable(build(name))))


def entry(name: str) -> EstimatorEntry:
    """Return the entry of an estimator.

    Raises
    ------
    UsageError
        The name is not registered, or is a network's.
    """
    known = models.entry(name)
    if not isinstance(known, EstimatorEntry):
        raise UsageError(f"{name} is a network, no estimator; known estimators: {_listed()}")
    return known


def _listed() -> str:
    return ", ".join(models.estimator_names())


def identity(name: str, hyperparameters: Mapping[str, Any]) -> Identity:
    """Return the other parts of the key: class, parameters and packages; imports the estimator.

    Raises
    ------
    UsageError, ModelError
        The estimator cannot be built, or a parameter cannot be written as JSON.
    """
    return identify(build_cell(name, hyperparameters))


def build_cell(name: str, hyperparameters: Mapping[str, Any]) -> Any:
    """Build an unfitted estimator with a cell's hyperparameters; those that are its defaults are left to it.

    Raises
    ------
    UsageError, ModelError
        As for `build`.
    """
    defaults = models.hyperparameters(name)
    return build(name, **{key: value for key, value in hyperparameters.items() if value != defaults[key]})


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
        if key.rpartition("__")[2] in source.SEEDS:
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


def factory(name: str) -> Any:
    """Import and return the class, or the function, that makes an estimator.

    Raises
    ------
    UsageError
        The name is not registered, or is a network's.
    ModelError
        There is no such class.
    """
    return _maker(entry(name))


def _maker(known: ModelEntry) -> Any:
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
