"""The configurations that a recipe with a search tries for a model: the published one, then draws from a grid.

The draws are the same list for every model, and the first N of it are the same for every N, so that more can be tried
later.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from bench.errors import UsageError
from bench.models import registry as models
from bench.settings.schema import Search
from bench.settings.tables import hyperparameter_table, recipe

STANDARD_NUMBER = 6


@dataclass(frozen=True)
class Candidate:
    """One configuration to try: values that go before a preset's and the user's.

    ``number`` counts from 1; ``origin`` says where the values come from.
    """

    number: int
    origin: str
    training: dict[str, Any] = field(default_factory=dict)
    hyperparameters: dict[str, Any] = field(default_factory=dict)


def candidates(model: str, published: dict[str, Any], search: Search, number: int) -> tuple[Candidate, ...]:
    """Return the first configurations to try for a model.

    Parameters
    ----------
    model
        A model without a setting ``dropout`` is given the other two.
    published
        The training values that the model's published protocol has.
    search
        The grid.
    number
        How many are wanted.

    Raises
    ------
    UsageError
        The grid has fewer.
    """
    tuned = {name: published[name] for name in ("learning_rate", "weight_decay")}
    first = Candidate(1, "tried configuration 1, the published one", tuned)
    dropout = _published_dropout(model)
    seen = {(*tuned.values(), dropout)}
    found = [first]
    for learning_rate, weight_decay, rate in _drawn(search):
        values = (learning_rate, weight_decay, None if dropout is None else rate)
        if len(found) == number:
            break
        if values not in seen:
            seen.add(values)
            found.append(_drawn_candidate(len(found) + 1, values))
    if len(found) < number:
        raise UsageError(f"--configurations {number}: {model} has at most {len(found)} different ones")
    return tuple(found)


def _drawn_candidate(number: int, values: tuple[float, float, float | None]) -> Candidate:
    learning_rate, weight_decay, rate = values
    return Candidate(
        number,
        f"tried configuration {number}",
        {"learning_rate": learning_rate, "weight_decay": weight_decay},
        {} if rate is None else {"dropout": rate},
    )


def _drawn(search: Search) -> list[tuple[float, float, float]]:
    grid = list(product(search.learning_rate, search.weight_decay, search.dropout))
    order = np.random.default_rng(search.order_seed).permutation(len(grid))
    return [grid[position] for position in order]


def _published_dropout(model: str) -> float | None:
    """Return a model's dropout with its published hyperparameters; None if it has no such setting."""
    defaults, table = models.hyperparameters(model), hyperparameter_table(model)
    if "dropout" not in defaults or "dropout" in models.entry(model).overrides:
        return None
    return (table.default if table is not None else {}).get("dropout", defaults["dropout"])


def require_search(recipe_name: str, number: int | None) -> int | None:
    """Return how many configurations a recipe tries; None for a recipe without a search.

    Raises
    ------
    UsageError
        A number is given for a recipe without a search.
    """
    if recipe(recipe_name).search is not None:
        return number or STANDARD_NUMBER
    if number is not None:
        raise UsageError(
            f"--configurations {number}: recipe '{recipe_name}' tries no configurations; use --recipe equal"
        )
    return None
