"""Parts: batches in the order asked for, and stratified draws."""

import numpy as np
import pytest

from bench.train.part import Part
from tests.train.cohort import make_part


def test_batches_follow_the_order_and_keep_the_rest() -> None:
    part = make_part("ab", 0)
    order = np.array([3, 0, 2, 1, 5])
    batches = list(part.batches(order, 2))
    assert [len(labels) for _, labels in batches] == [2, 2, 1]
    np.testing.assert_array_equal(
        np.concatenate([windows.numpy() for windows, _ in batches]), part.windows[order]
    )


@pytest.mark.parametrize("n_windows", [2, 7, 15])
def test_a_draw_keeps_the_proportions_of_the_classes(n_windows: int) -> None:
    part = make_part("abcd", 0)
    drawn = part.draw(n_windows, np.random.default_rng(1))
    assert len(drawn) == n_windows
    assert abs(int((drawn.part_labels == 1).sum()) - n_windows / 2) <= 1
    assert len(np.unique(drawn.rows)) == n_windows


@pytest.mark.parametrize("n_windows", [3, 10, 100])
def test_a_draw_keeps_the_smallest_class(n_windows: int) -> None:
    labels = np.repeat([0, 1, 2], [1, 5, 200])
    windows = np.zeros((len(labels), 1, 1), np.float32)
    part = Part(windows, labels, np.repeat("a", len(labels)), np.arange(len(labels)))
    drawn = part.draw(n_windows, np.random.default_rng(1)).part_labels
    assert set(drawn) == {0, 1, 2}
    assert (drawn == 2).sum() == pytest.approx(n_windows * 200 / 206, abs=2)


def test_a_draw_larger_than_the_part_is_the_part() -> None:
    part = make_part("ab", 0)
    assert part.draw(1000, np.random.default_rng(1)) is part


def test_a_draw_repeats_with_its_generator() -> None:
    part = make_part("abcd", 0)
    rows = [part.draw(9, np.random.default_rng(5)).rows for _ in range(2)]
    np.testing.assert_array_equal(rows[0], rows[1])


def test_labels_are_shuffled_within_the_part_alone() -> None:
    whole = make_part("abcdefgh", 0)
    rows = whole.rows[: len(whole) // 2]
    part = Part(whole.windows, whole.labels, whole.subject, rows)
    before = whole.labels.copy()
    shuffled, again = (part.with_shuffled_labels(np.random.default_rng(1)) for _ in range(2))
    assert not np.array_equal(shuffled.part_labels, part.part_labels)
    np.testing.assert_array_equal(np.sort(shuffled.part_labels), np.sort(part.part_labels))
    np.testing.assert_array_equal(np.delete(shuffled.labels, rows), np.delete(before, rows))
    np.testing.assert_array_equal(shuffled.part_labels, again.part_labels)
    np.testing.assert_array_equal(whole.labels, before)
