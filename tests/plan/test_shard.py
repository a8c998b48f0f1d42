"""Shards: disjoint, complete, even, stable, and mixed."""

from collections import Counter

import pytest

from bench.plan.grid import PlannedCell
from bench.plan.request import make_request
from bench.plan.shard import Shard


def cells(models: str = "all", datasets: str = "all") -> list[PlannedCell]:
    request = make_request(
        models_text=models,
        datasets_text=datasets,
        seeds_text="41-45",
        preset_name="paper",
        recipe_name=None,
        assignments=(),
    )
    return [PlannedCell(settings, "to do") for settings in request.settings()]


@pytest.fixture(scope="module")
def whole() -> list[PlannedCell]:
    """All cells of the protocol."""
    return cells()


@pytest.mark.parametrize("count", [1, 2, 7, 12])
def test_every_cell_is_in_one_shard_and_shards_are_even(whole: list[PlannedCell], count: int) -> None:
    shards = [Shard(index, count).of(whole) for index in range(1, count + 1)]
    assert sum(map(len, shards)) == len(whole)
    assert Counter(id(cell) for shard in shards for cell in shard) == Counter(map(id, whole))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_shard_does_not_depend_on_what_is_done(whole: list[PlannedCell]) -> None:
    done = [PlannedCell(planned.settings, "done") for planned in whole]
    assert [planned.settings for planned in Shard(2, 5).of(done)] == [
        planned.settings for planned in Shard(2, 5).of(whole)
    ]


def test_no_shard_gets_the_slow_models_alone(whole: list[PlannedCell]) -> None:
    for index in range(1, 13):
        models = Counter(planned.settings.model for planned in Shard(index, 12).of(whole))
        assert max(models.values()) <= 10
        assert len(models) >= 8


def test_a_shard_keeps_the_order_of_the_plan() -> None:
    planned = cells("transformer,medmamba")
    positions = [planned.index(cell) for cell in Shard(1, 3).of(planned)]
    assert positions == sorted(positions)
