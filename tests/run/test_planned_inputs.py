"""What a cell is fitted to: all training windows or a draw of them, and never their labels under a control."""

import numpy as np

from bench.run.planned_inputs import FittingParts, fitting_windows
from bench.settings import preset, resolve
from bench.settings.resolve import Control
from bench.train.part import Part
from tests.train.cohort import make_part


def windows_under(control: Control | None, **assignments: object) -> tuple[Part, Part]:
    settings = resolve(
        "fcn", "uci-har", 41, recipe_name="published", preset=preset("paper"), assignments=assignments
    )
    parts = FittingParts(make_part("abcd", 0), make_part("ef", 1))
    return fitting_windows(parts, settings.model_copy(update={"control": control}))


def test_a_control_permutes_the_labels_of_training_and_validation() -> None:
    for plain, shuffled in zip(windows_under(None), windows_under("shuffled-labels"), strict=True):
        np.testing.assert_array_equal(plain.rows, shuffled.rows)
        assert not np.array_equal(plain.part_labels, shuffled.part_labels)
        np.testing.assert_array_equal(np.sort(plain.part_labels), np.sort(shuffled.part_labels))


def test_only_training_windows_are_drawn() -> None:
    train, validation = windows_under(None, max_train_windows=5)
    assert (len(train), len(validation)) == (5, len(make_part("ef", 1)))
