"""From the texts of the command line to a checked request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bench import datasets
from bench.models import registry as models
from bench.plan.grid import Request
from bench.plan.select import own_files, parse_names, parse_seeds
from bench.settings import Preset, preset
from bench.settings.candidates import require_search
from bench.settings.resolve import check_assignments, parse_assignments
from bench.settings.tables import recipe


class Registry(Protocol):
    """The interface of the registries of models and datasets."""

    def names(self, *, all_only: bool = False) -> list[str]:
        """Return the registered names."""
        ...

    def register_file(self, file: str, /) -> str:
        """Register a user's file and return its name."""
        ...


def chosen_names(
    kind: str, text: str, registry: Registry, standard: Sequence[str] | None = None
) -> list[str]:
    """Return the names of all models or datasets asked for; a user's own files are registered on the way.

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
) -> Request:
    """Check every name and value and return the request; imported datasets below ``data`` are names too.

    ``ablation`` adds the variants of MedMamba on ADFTD where both are asked for; ``configurations`` is how many a
    recipe with a search tries for each model.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    chosen = preset(preset_name)
    recipe_name = recipe_name or chosen.recipe
    recipe(recipe_name)
    model_names = chosen_names("model", models_text, models)
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
        ablation=ablation,
        configurations=_configurations(recipe_name, configurations, chosen),
    )
    request.settings()
    return request


def _configurations(recipe_name: str, asked: int | None, chosen: Preset) -> int | None:
    """Return how many configurations are tried: as asked, else as the preset says where it has that recipe."""
    if asked is None and recipe_name == chosen.recipe:
        return require_search(recipe_name, chosen.configurations)
    return require_search(recipe_name, asked)
