"""Both sources of variance by hand, what must not change an interval, and how often it holds the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bench.errors import RecordError
from bench.stats.bootstrap import CONFUSION_SCORES
from bench.stats.left_out import LeftOut, auroc_left_out, score_left_out
from bench.stats.two_way import difference_estimate, score_estimate
from bench.stats.unknowable import FewSeedsError
from benchmarks.coverage.intervals import RANKINGS
from benchmarks.coverage.settings import SETTINGS
from benchmarks.coverage.simulate import Setting

values = arrays.arrays(float, st.tuples(st.integers(2, 6), st.just(7)), elements=st.floats(0, 1))


def mean_of(table: np.ndarray) -> LeftOut:
    """Return the mean over subjects as a score; the table is (n_seeds, n_subjects)."""
    n_subjects = table.shape[1]
    without = (table.sum(axis=1, keepdims=True) - table) / (n_subjects - 1)
    return LeftOut(table.mean(axis=1), without, np.zeros(n_subjects, dtype=int))


def test_the_variance_is_that_of_the_two_way_analysis() -> None:
    # Mean squares of a crossed design without replicates: (MS_seeds + MS_subjects - MS_rest) / (S n).
    table = np.array([[3.0, 5, 10], [5, 6, 16]])
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    of_seeds, of_subjects = 3 * np.var(rows, ddof=1), 2 * np.var(columns, ddof=1)
    rest = ((table - rows[:, None] - columns + table.mean()) ** 2).sum() / 2
    found = score_estimate(mean_of(table))
    assert of_seeds > rest
    assert found.value == 7.5
    assert found.standard_error**2 == pytest.approx((of_seeds + of_subjects - rest) / 6)
    assert (found.n_seeds, found.n_subjects) == (2, 3)


def test_degrees_of_freedom_by_hand() -> None:
    table = np.array([[3.0, 5, 10], [5, 6, 16]])
    found = score_estimate(mean_of(table))
    of_seeds, of_subjects = np.var(table.mean(axis=1), ddof=1) / 2, np.var(table.mean(axis=0), ddof=1) / 3
    assert found.df == pytest.approx(found.standard_error**4 / (of_seeds**2 / 1 + of_subjects**2 / 2))


def test_seeds_alike_leave_the_variance_between_subjects() -> None:
    table = np.tile([0.2, 0.5, 0.9, 0.4], (5, 1))
    found = score_estimate(mean_of(table))
    assert found.standard_error == pytest.approx(np.std(table[0], ddof=1) / 2)
    assert found.df == pytest.approx(3)


def test_subjects_alike_leave_the_variance_between_seeds() -> None:
    table = np.tile([[0.2], [0.5], [0.9], [0.4]], (1, 6))
    found = score_estimate(mean_of(table))
    assert found.standard_error == pytest.approx(np.std(table[:, 0], ddof=1) / 2)
    assert found.df == pytest.approx(3)


def test_what_both_models_find_hard_cancels_in_their_difference() -> None:
    hard = np.array([0.0, 0.1, 0.5, 0.9])
    first, second = (mean_of(level + hard + np.zeros((3, 1))) for level in (0.2, 0.1))
    found = difference_estimate(first, second)
    assert found.value == pytest.approx(0.1)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)


def test_a_difference_holds_the_seeds_of_both_models() -> None:
    first, second = (mean_of(np.tile(seeds, (4, 1)).T) for seeds in ([0.1, 0.3], [0.2, 0.6, 0.7]))
    found = difference_estimate(first, second)
    squares = (np.var([0.1, 0.3], ddof=1) / 2, np.var([0.2, 0.6, 0.7], ddof=1) / 3)
    assert found.standard_error**2 == pytest.approx(sum(squares))
    assert found.df == pytest.approx(sum(squares) ** 2 / (squares[0] ** 2 / 1 + squares[1] ** 2 / 2))
    assert found.n_seeds == 2


@given(values, values)
def test_swapping_the_models_mirrors_the_interval(first: np.ndarray, second: np.ndarray) -> None:
    there = difference_estimate(mean_of(first), mean_of(second)).bounds()
    back = difference_estimate(mean_of(second), mean_of(first)).bounds()
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_seeds_and_subjects_does_not_matter(table: np.ndarray, random) -> None:
    rows, columns = list(range(len(table))), list(range(7))
    random.shuffle(rows)
    random.shuffle(columns)
    first, second = (score_estimate(mean_of(seen)).bounds() for seen in (table, table[rows][:, columns]))
    assert (first.low, first.high) == pytest.approx((second.low, second.high))


@given(values)
def test_an_interval_is_never_narrower_than_the_subjects_alone_make_it(table: np.ndarray) -> None:
    subjects = np.var(table.mean(axis=0), ddof=1) / 7
    assert score_estimate(mean_of(table)).standard_error ** 2 >= subjects * (1 - 1e-9)


def test_subjects_twice_over_are_no_more_subjects() -> None:
    by_subject = SETTINGS[0].models(np.random.default_rng(0))[0]
    once, twice = (
        score_estimate(score_left_out(factor * by_subject, CONFUSION_SCORES["f1"])) for factor in (1, 2)
    )
    assert once.standard_error == pytest.approx(twice.standard_error)


def linear_study(
    rng: np.random.Generator, n_subjects: int, seed_sd: float, own_sd: float, rest_sd: float
) -> tuple[LeftOut, LeftOut]:
    """Return two equally good models, true score 0, five seeds; deviations in points."""
    subjects = 8 * rng.standard_normal(n_subjects)
    tables = (
        subjects
        + seed_sd * rng.standard_normal((2, 5, 1))
        + own_sd * rng.standard_normal((2, 1, n_subjects))
        + rest_sd * rng.standard_normal((2, 5, n_subjects))
    )
    return mean_of(tables[0]), mean_of(tables[1])


@pytest.mark.parametrize(
    ("n_subjects", "seed_sd", "n_studies"), [(61, 2.0, 2000), (3519, 2.7, 400), (20, 2.0, 2000)]
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    n_subjects: int, seed_sd: float, n_studies: int
) -> None:
    rng = np.random.default_rng(n_subjects)
    held = np.zeros(2)
    for _ in range(n_studies):
        first, second = linear_study(rng, n_subjects, seed_sd, 3.7, 6.3)
        score, difference = score_estimate(first).bounds(), difference_estimate(first, second).bounds()
        held += (not score.excludes_zero, not difference.excludes_zero)
    assert held.min() / n_studies >= 0.93
    assert held.max() / n_studies <= 0.97


@pytest.mark.parametrize("setting", [SETTINGS[3], SETTINGS[5]], ids=lambda setting: setting.name)
def test_macro_f1_of_unequal_classes_is_held_as_often(setting: Setting) -> None:
    rng, score, n_studies = np.random.default_rng(1), CONFUSION_SCORES["f1"], 600
    truth = setting.true_score(score)
    held = np.zeros(2)
    for _ in range(n_studies):
        first, second = (score_left_out(model, score) for model in setting.models(rng, (0.0, 0.0)))
        bounds = score_estimate(first).share_bounds()
        held += (
            bounds.low <= truth <= bounds.high,
            not difference_estimate(first, second).bounds().excludes_zero,
        )
    assert held.min() / n_studies >= 0.93
    assert held.max() / n_studies <= 0.97


def test_auroc_is_held_as_often() -> None:
    setting, rng, n_studies = RANKINGS[0], np.random.default_rng(2), 400
    labels = np.repeat(setting.labels, setting.n_windows)
    subjects = np.repeat(np.arange(61), setting.n_windows)
    held = 0
    for _ in range(n_studies):
        found = auroc_left_out(labels, subjects, setting.models(rng, 1)[0])
        bounds = score_estimate(found).share_bounds()
        held += bounds.low <= setting.true_auroc <= bounds.high
    assert 0.93 <= held / n_studies <= 0.97


def test_the_true_score_of_a_simulation_is_that_of_many_subjects() -> None:
    score = CONFUSION_SCORES["f1"]
    some = SETTINGS[5]
    many = Setting(
        "many", (1200, 500, 300), 50, some.level, some.seed_sd, some.subject_sd, some.model_subject_sd,
        some.interaction_sd, n_seeds=60, link=some.link,
    )  # fmt: skip
    found = score(many.models(np.random.default_rng(0))[0].sum(axis=1)).mean()
    assert many.true_score(score) == pytest.approx(found, abs=0.01)


def test_one_seed_has_no_interval() -> None:
    single, five = mean_of(np.ones((1, 20))), mean_of(np.ones((5, 20)))
    with pytest.raises(FewSeedsError, match="no verdict from 1 seed"):
        score_estimate(single)
    with pytest.raises(FewSeedsError, match="no verdict from 1 seed"):
        difference_estimate(five, single)


@settings(max_examples=10)
@given(st.integers(2, 6).filter(lambda n: n != 4))
def test_models_tested_on_other_subjects_are_refused(n_subjects: int) -> None:
    first, second = mean_of(np.ones((2, 4))), mean_of(np.ones((2, n_subjects)))
    with pytest.raises(RecordError, match=f"4 and {n_subjects} test subjects"):
        difference_estimate(first, second)
