"""From the texts of the command line to a checked request."""

from collections.abc import Sequence

from bench import datasets
from bench.models import registry as models
from bench.plan.grid import Request
from bench.plan.select import parse_names, parse_seeds
from bench.settings import preset
from bench.settings.resolve import check_assignments, parse_assignments
from bench.settings.tables import recipe


def make_request(
    *,
    models_text: str,
    datasets_text: str,
    seeds_text: str | None,
    preset_name: str,
    recipe_name: str | None,
    assignments: Sequence[str],
) -> Request:
    """Check every name and value and return the request.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    chosen = preset(preset_name)
    recipe_name = recipe_name or chosen.recipe
    recipe(recipe_name)
    model_names = parse_names("model", models_text, models.names(), models.names(all_only=True))
    with_classes = datasets.names(all_only=True)
    dataset_names = parse_names("dataset", datasets_text, with_classes, with_classes)
    parsed = parse_assignments(tuple(assignments))
    check_assignments(parsed, model_names)
    request = Request(
        models=model_names,
        datasets=dataset_names,
        seeds=parse_seeds(seeds_text) if seeds_text else list(chosen.seeds),
        recipe=recipe_name,
        preset=chosen,
        assignments=parsed,
    )
    request.settings()
    return request
