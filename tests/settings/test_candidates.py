"""Configurations that are tried: the published one first, then one list for all models, nested in its length."""

import pytest

from bench.errors import UsageError
from bench.models import registry
from bench.settings import preset, resolve
from bench.settings.candidates import Candidate, require_search
from bench.settings.resolve import CellSettings, candidates_of
from bench.settings.tables import recipe


def settle(model: str, candidate: Candidate | None, recipe_name: str = "equal") -> CellSettings:
    return resolve(
        model,
        "uci-har",
        41,
        recipe_name=recipe_name,
        preset=preset("paper"),
        assignments={},
        candidate=candidate,
    )


def tried(model: str, number: int) -> tuple[Candidate, ...]:
    return candidates_of(model, "uci-har", "equal", number)


@pytest.mark.parametrize("model", registry.names())
def test_first_is_what_the_published_protocol_gives(model: str) -> None:
    first, published = settle(model, tried(model, 1)[0]), settle(model, None, "published")

    for name in ("learning_rate", "weight_decay"):
        assert getattr(first.training, name) == getattr(published.training, name)
    same = [name for name in published.hyperparameters if name != "augmentations"]
    assert all(first.hyperparameters[name] == published.hyperparameters[name] for name in same)


def test_everything_but_the_configuration_is_the_same_for_all_models() -> None:
    left = {"learning_rate", "weight_decay"}
    protocols = {
        settle(model, tried(model, 1)[0])
        .training.model_copy(update=dict.fromkeys(left, 1.0))
        .model_dump_json()
        for model in registry.names()
    }

    assert len(protocols) == 1


@pytest.mark.parametrize("model", ["medmamba", "fcn"])
def test_more_configurations_begin_with_the_fewer(model: str) -> None:
    assert tried(model, 9)[:4] == tried(model, 4)


def test_draws_are_the_same_for_every_model_and_never_repeat() -> None:
    ours, theirs = tried("medmamba", 20)[1:], tried("transformer", 20)[1:]

    assert [c.training for c in ours[:6]] == [c.training for c in theirs[:6]]
    values = [(*c.training.values(), *c.hyperparameters.values()) for c in tried("transformer", 30)]
    assert len(set(values)) == len(values)


def test_a_model_without_dropout_is_given_the_other_two() -> None:
    assert all(not candidate.hyperparameters for candidate in tried("fcn", 10))


def test_more_than_the_grid_has_are_refused() -> None:
    with pytest.raises(UsageError, match=r"--configurations 50: fcn has at most 1[23] different"):
        tried("fcn", 50)


def test_only_a_recipe_with_a_search_takes_a_number() -> None:
    assert require_search("equal", None) == 6
    assert require_search("published", None) is None
    with pytest.raises(UsageError, match="--recipe equal"):
        require_search("published", 3)


def test_quick_runs_one_protocol_and_tries_nothing() -> None:
    quick = preset("quick")

    assert recipe(quick.recipe).search is not None
    assert quick.configurations == 1
