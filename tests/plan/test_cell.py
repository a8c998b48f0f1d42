"""A cell's key: what moves it and what must not."""

import re

import pytest

from bench.datasets.contract import Split
from bench.plan.cell import Cell, CellData, canonical_json
from bench.results.record import DataDescription, SplitCounts
from bench.settings import preset, resolve


def make_cell(
    model: str = "transformer",
    dataset: str = "ptb-xl",
    seed: int = 41,
    recipe: str = "published",
    fingerprint: str = "f0",
    train: tuple[str, ...] = ("a", "b"),
    **assignments: object,
) -> Cell:
    settings = resolve(
        model, dataset, seed, recipe_name=recipe, preset=preset("paper"), assignments=assignments
    )
    counts = SplitCounts(n_subjects=1, n_windows=2, windows_per_class=(1, 1))
    description = DataDescription(
        title="t",
        kind="simulated",
        version="1",
        fingerprint=fingerprint,
        normalisation=settings.data.normalisation or "window",
        split_origin="rule",
        class_names=("x", "y"),
        n_times=4,
        n_channels=2,
        parts={"train": counts, "validation": counts, "test": counts},
        n_train_windows_used=2,
    )
    return Cell.of(settings, CellData(split=Split("rule", train, ("c",), ("d",)), description=description))


@pytest.mark.parametrize(
    "change",
    [
        {"model": "patchtst"},
        {"seed": 42},
        {"recipe": "medmamba"},
        {"fingerprint": "f1"},
        {"train": ("a",)},
        {"epochs": 3},
        {"d_model": 64},
        {"normalisation": "none"},
        {"max_train_windows": 9},
        {"precision": "bfloat16"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_can_change_the_result_changes_the_key(change: dict) -> None:
    assert make_cell(**change).key != make_cell().key


def test_a_control_is_another_cell() -> None:
    plain = make_cell()
    control = Cell.of(plain.settings.model_copy(update={"control": "shuffled-labels"}), plain.data)
    assert control.key != plain.key
    assert control.label == f"{plain.label} / shuffled-labels"


def test_equal_cells_have_equal_keys() -> None:
    assert make_cell().key == make_cell().key
    assert re.fullmatch("[0-9a-f]{64}", make_cell().key)


def test_the_order_of_subjects_does_not_matter() -> None:
    assert make_cell(train=("b", "a")).key == make_cell(train=("a", "b")).key


@pytest.mark.parametrize("model", ["transformer", "informer", "medmamba"])
def test_a_micro_batch_is_part_of_the_key(model: str) -> None:
    assert make_cell(model, micro_batch_size=8).key != make_cell(model).key


def test_a_micro_batch_as_large_as_the_batch_is_none() -> None:
    whole = make_cell(batch_size=16)
    assert {make_cell(batch_size=16, micro_batch_size=size).key for size in (16, 17)} == {whole.key}


def test_the_same_numbers_under_two_recipe_names_share_a_key() -> None:
    assert (
        make_cell("transformer", recipe="published").key == make_cell("transformer", recipe="medformer").key
    )


def test_a_revision_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_cell().key
    monkeypatch.setattr("bench.plan.cell.TRAINER_REVISION", 999)
    assert make_cell().key != before


def test_canonical_json_has_one_text() -> None:
    assert (
        canonical_json({"b": 1, "a": (2, 3)}) == canonical_json({"a": [2, 3], "b": 1}) == '{"a":[2,3],"b":1}'
    )


def test_numbers_that_are_not_finite_have_no_key() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
