"""From the texts of the command line to a checked request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bench import datasets
from bench.errors import UsageError, unknown_name
from bench.estimators import registry as estimators
from bench.models import registry as models
from bench.plan.grid import Request
from bench.plan.select import own_files, parse_names, parse_seeds
from bench.settings import Preset, preset
from bench.settings.candidates import require_search
from bench.settings.resolve import Control, check_assignments, parse_assignments
from bench.settings.tables import recipe


class Registry(Protocol):
    """The interface of the registry of datasets."""

    def names(self, *, all_only: bool = False) -> list[str]:
        """Return the registered names."""
        ...

    def register_file(self, file: str, /) -> str:
        """Register a user's file and return its name."""
        ...


def chosen_names(
    kind: str, text: str, registry: Registry, standard: Sequence[str] | None = None
) -> list[str]:
    """Return the names of all datasets asked for; a user's own files are registered on the way.

    ``standard`` are the names that ``all`` stands for, by default the registry's own choice.

    Raises
    ------
    UsageError
        A name is unknown (the nearest is offered), or there is none.
    """
    registered, files = own_files(text)
    own = [registry.register_file(file) for file in files]
    if own and not registered:
        return own
    named = parse_names(kind, registered, registry.names(), standard or registry.names(all_only=True))
    return list(dict.fromkeys([*named, *own]))


def chosen_models(text: str, standard: Sequence[str] | None = None) -> list[str]:
    """Return the models of a comma list without repetition; a user's own are registered on the way.

    Parameters
    ----------
    text
        Names, groups (``paper``, ``variants``, ``beyond``, ``classical``, ``braindecode``, ``everything``), patterns
        such as ``medmamba*``, files and classes of installed packages.
    standard
        The names that ``all`` stands for, by default the paper's.

    Raises
    ------
    UsageError
        A name is unknown (the nearest is offered), or there is none.
    ModelError
        A user's own model cannot be used.
    """
    chosen: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        chosen.extend(standard if part == "all" and standard is not None else _models_of(part))
    if not chosen:
        raise UsageError(f"no model in {text!r}; known: {', '.join(_known_models())}")
    names = list(dict.fromkeys(chosen))
    for name in filter(models.is_estimator, names):
        estimators.tell(name)
    return names


def _models_of(part: str) -> list[str]:
    if estimators.is_own(part):
        return [estimators.register_own(part)]
    found = models.matching(part)
    if not found and part not in _known_models():
        raise unknown_name("model", part, _known_models())
    return found or [part]


def _known_models() -> list[str]:
    return [*models.GROUPS, *models.names(), *models.estimator_names(), *models.braindecode_names()]


def chosen_networks(text: str, standard: Sequence[str] | None = None) -> list[str]:
    """Return the networks of a comma list, as `chosen_models` reads it; estimators beside them are left out.

    Raises
    ------
    UsageError
        A name is unknown, or all are estimators'.
    """
    chosen = chosen_models(text, standard)
    networks = [name for name in chosen if not models.is_estimator(name)]
    if not networks:
        raise UsageError(
            f"--models {text}: an estimator's fitted state is not kept, and it has neither layers nor features; name a "
            "network"
        )
    return networks


def make_request(
    *,
    models_text: str,
    datasets_text: str,
    seeds_text: str | None,
    preset_name: str,
    recipe_name: str | None,
    assignments: Sequence[str],
    data: Path | None = None,
    ablation: bool = False,
    configurations: int | None = None,
    control: Control | None = None,
) -> Request:
    """Check every name and value and return the request; imported datasets below ``data`` are names too.

    ``ablation`` adds the variants of MedMamba on ADFTD where both are asked for; ``configurations`` is how many a
    recipe with a search tries for each model; a ``control`` is for every cell, and has no variants.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    chosen = preset(preset_name)
    recipe_name = recipe_name or chosen.recipe
    recipe(recipe_name)
    model_names = chosen_models(models_text)
    if data is not None:
        datasets.register_imported(data)
    dataset_names = chosen_names("dataset", datasets_text, datasets)
    parsed = parse_assignments(tuple(assignments))
    check_assignments(parsed, model_names)
    request = Request(
        models=model_names,
        datasets=dataset_names,
        seeds=parse_seeds(seeds_text) if seeds_text else list(chosen.seeds),
        recipe=recipe_name,
        preset=chosen,
        assignments=parsed,
        ablation=ablation and control is None,
        configurations=_configurations(recipe_name, configurations, chosen),
        control=control,
    )
    request.settings()
    return request


def _configurations(recipe_name: str, asked: int | None, chosen: Preset) -> int | None:
    """Return how many configurations are tried: as asked, else as the preset says where it has that recipe."""
    if asked is None and recipe_name == chosen.recipe:
        return require_search(recipe_name, chosen.configurations)
    return require_search(recipe_name, asked)
