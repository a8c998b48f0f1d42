"""Which protocols models were trained by, in words, and over how many windows they normalised."""

from pathlib import Path
from typing import Any

import pytest

from bench.results.record import Record
from bench.settings.tables import recipe
from bench.studies.aggregate import Group
from bench.studies.protocols import _AVERAGED, protocols, protocols_in_words, smaller_batches
from tests.report.grids import Grid, write_grid


def written(out: Path, **options: Any) -> dict[str, list[Group]]:
    """Write a grid of one seed; return its groups by dataset."""
    groups: dict[str, list[Group]] = {}
    for record in write_grid(out, Grid(seeds=(41,), n_epochs=1, **options)):
        groups.setdefault(record.cell.dataset, []).append(Group(record.cell.model, (record,)))
    return groups


def changed(group: Group, **fields: Any) -> Group:
    return Group(group.model, tuple(record.model_copy(update=fields) for record in group.records))


def searched(record: Record, rate: float, n_tried: int) -> dict[str, Any]:
    """Return settings whose learning rate was chosen among configurations."""
    training = record.settings["training"] | {"learning_rate": rate}
    return record.settings | {"training": training, "tuned": {"chosen": 0, "tried": n_tried}}


def test_the_papers_recipe_has_two_protocols_and_a_third_of_medformer(tmp_path: Path) -> None:
    groups = written(tmp_path, models=("medmamba", "medformer", "transformer"), datasets=("apava", "ptb-xl"))
    assert [protocol.models for protocol in protocols(groups)] == [
        ("transformer",),
        ("medformer",),
        ("medmamba",),
    ]
    words = protocols_in_words(groups)
    assert (
        "transformer: Adam at learning rate 0.0001, constant rate, batch 32 to 256, at most 100 epochs"
        in words
    )
    assert (
        "medmamba: AdamW at learning rate 0.0005, weight decay 0.1, cosine schedule, warm-up epochs 5"
        in words
    )
    assert "batch 128 to 512, 50 epochs" in words


def test_one_protocol_says_what_is_not_equal(tmp_path: Path) -> None:
    models = ("medmamba", "medformer", "transformer")
    words = protocols_in_words(written(tmp_path, recipe="medmamba", models=models, datasets=("ptb",)))
    assert words.startswith("One protocol for all models: AdamW at learning rate 0.0005")
    assert "medformer without its published augmentation and averaging of weights" in words
    assert "medmamba with its own channel dropout and drop path" in words
    assert "transformer with" not in words


def test_a_search_of_equal_size_is_one_protocol_and_of_another_size_is_not(tmp_path: Path) -> None:
    first, second = written(
        tmp_path, recipe="medmamba", models=("medmamba", "transformer"), datasets=("ptb",)
    )["ptb"]

    def tried(n_first: int, n_second: int) -> dict[str, list[Group]]:
        return {
            "ptb": [
                changed(first, settings=searched(first.records[0], 1e-3, n_first)),
                changed(second, settings=searched(second.records[0], 3e-4, n_second)),
            ]
        }

    assert len(protocols(tried(6, 6))) == 1
    assert "of the best of 6 tried configurations" in protocols_in_words(tried(6, 6))
    assert len(protocols(tried(6, 1))) == 2
    # As the quick preset has it: nothing is tried, each model keeps what its paper found.
    assert len(protocols(tried(1, 1))) == 1
    assert "as published for each model" in protocols_in_words(tried(1, 1))


@pytest.mark.parametrize(
    ("model", "used", "said"),
    [
        ("medmamba", 8, "medmamba on Sleep-EDF over 8 instead of 72"),
        ("medmamba", None, ""),
        ("autoformer", 8, "autoformer on Sleep-EDF over 8 instead of 72"),
        ("transformer", 8, ""),
    ],
)
def test_normalising_over_fewer_windows_than_a_batch_is_said(
    model: str, used: int | None, said: str, tmp_path: Path
) -> None:
    groups = written(tmp_path, recipe="medmamba", models=(model,), datasets=("sleep-edf",))
    found = smaller_batches(
        {"sleep-edf": [changed(group, micro_batch_size_used=used) for group in groups["sleep-edf"]]}
    )
    assert (said in found) if said else (found == "")


def test_averaged_models_are_those_of_the_published_recipe() -> None:
    overlays = recipe("medformer").model
    assert {name for name, overlay in overlays.items() if overlay.values().get("weight_averaging")} == set(
        _AVERAGED
    )
