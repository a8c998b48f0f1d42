"""Aggregation: what may share a table, and whose mean is whose."""

from pathlib import Path
from typing import Any

import pytest

from bench.results.record import Failure, Metrics, Record
from bench.results.store import CellFolder
from bench.settings import preset, resolve
from bench.studies.aggregate import compare
from tests.results.test_store import NAME, made_scores, make_record


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return make_record(CellFolder.of(tmp_path, NAME, "ab" * 32), "ab" * 32)


def with_score(record: Record, seed: int, f1: float, **changes: object) -> Record:
    metrics = Metrics(val=made_scores(f1), test=made_scores(f1))
    cell = record.cell.model_copy(update={"seed": seed})
    return record.model_copy(update={"cell": cell, "metrics": metrics, **changes})


def test_mean_and_sample_deviation_over_seeds(record: Record) -> None:
    (one,) = compare([with_score(record, 41, 0.5), with_score(record, 42, 0.7)])
    mean = one.groups[0].score("f1")
    assert mean is not None
    assert (mean.mean, mean.std, mean.n) == pytest.approx((0.6, 0.02**0.5, 2))


def test_one_seed_has_no_deviation(record: Record) -> None:
    mean = compare([with_score(record, 41, 0.5)])[0].groups[0].score("f1")
    assert mean is not None
    assert mean.std is None


def test_an_undefined_score_is_none_not_zero(record: Record) -> None:
    assert compare([with_score(record, 41, 0.5)])[0].groups[0].score("auroc") is None


def test_other_data_is_another_comparison(record: Record) -> None:
    other = record.data.model_copy(update={"fingerprint": "another"})
    assert len(compare([with_score(record, 41, 0.5), with_score(record, 42, 0.7, data=other)])) == 2


def test_changed_settings_are_another_comparison(record: Record) -> None:
    comparisons = compare([settled(record), settled(record, epochs=3)])
    assert [one.condition.changes for one in comparisons] == ["", "epochs=3"]


@pytest.mark.parametrize(
    ("changed", "labels"),
    [
        ({"d_model": 64}, [["transformer"], ["transformer"]]),
        ({"d_ff": 64}, [["transformer", "transformer (d_ff=64)"]]),
    ],
)
def test_a_changed_hyperparameter_is_never_averaged_with_the_default(
    record: Record, changed: dict[str, Any], labels: list[list[str]]
) -> None:
    comparisons = compare([settled(record), settled(record, **changed)])
    assert [[group.model for group in one.groups] for one in comparisons] == labels
    assert [one.n_superseded for one in comparisons] == [0] * len(labels)


def settled(
    record: Record, preset_name: str = "paper", model: str = "transformer", **values: object
) -> Record:
    """Return the record with the settings that a preset and a user's values give its cell."""
    chosen = preset(preset_name)
    settings = resolve(model, "ptb-xl", 41, recipe_name="published", preset=chosen, assignments=values)
    cell = record.cell.model_copy(update={"model": model})
    return record.model_copy(update={"cell": cell, "settings": settings.model_dump(mode="json")})


def test_a_presets_widths_are_a_condition(record: Record) -> None:
    wide = settled(record, epochs=3, batch_size=8, max_train_windows=300)
    toy, wide = compare([settled(record, "demo"), wide])
    assert "d_ff=64, d_model=32" in toy.condition.changes
    assert "d_model" not in wide.condition.changes


def test_models_of_a_preset_share_a_comparison_whatever_they_know_of_it(record: Record) -> None:
    (one,) = compare([settled(record, "demo"), settled(record, "demo", model="medmamba")])
    assert [group.model for group in one.groups] == ["medmamba", "transformer"]


def test_a_value_that_the_user_changed_beside_the_preset_names_the_model(record: Record) -> None:
    (one,) = compare([settled(record, "demo", d_ff=256)])
    assert [group.model for group in one.groups] == ["transformer (d_ff=256)"]


def test_a_value_given_for_all_keeps_them_together_where_one_has_it_anyway(record: Record) -> None:
    (one,) = compare([settled(record, model=model, batch_size=256) for model in ("medmamba", "transformer")])
    assert [group.model for group in one.groups] == ["medmamba", "transformer"]
    assert one.condition.changes == "batch_size=256"


def test_a_cell_stands_wherever_the_changes_leave_it_as_it_is(record: Record) -> None:
    found = compare([settled(record), settled(record, model="medmamba", batch_size=256)])
    assert [(one.condition.changes, [group.model for group in one.groups]) for one in found] == [
        ("", ["transformer"]),
        ("batch_size=256", ["medmamba", "transformer"]),
    ]


def test_seeds_typed_with_the_default_are_averaged_with_the_others(record: Record) -> None:
    typed = with_score(settled(record, batch_size=256, split="published"), 42, 0.7)
    (one,) = compare([with_score(settled(record), 41, 0.5), typed])
    assert (one.groups[0].seeds, one.condition.changes) == ((41, 42), "")


def test_a_default_typed_by_the_user_is_no_change(record: Record) -> None:
    epochs = record.settings["training"]["epochs"]
    (one,) = compare([settled(record), settled(record, epochs=epochs, n_heads=8, d_model=128)])
    assert one.condition.changes == ""


def test_a_revised_model_supersedes_its_old_records(record: Record) -> None:
    old = with_score(record, 41, 0.5)
    revised = record.revisions | {"model": int(record.revisions["model"]) + 1}
    new = with_score(record, 41, 0.9, revisions=revised, key="cd" * 32)
    (one,) = compare([new, old])
    assert one.n_superseded == 1
    assert one.groups[0].score("f1").mean == pytest.approx(0.9)  # pyright: ignore[reportOptionalMemberAccess]


def test_failures_are_not_averaged(record: Record) -> None:
    error = Failure(kind="ValueError", message="no")
    failed = record.model_copy(update={"outcome": "failed", "metrics": None, "error": error})
    (one,) = compare([failed, with_score(record, 42, 0.7)])
    assert one.groups[0].seeds == (42,)
    assert len(one.groups[0].failed) == 1
