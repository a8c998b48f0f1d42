"""The probe for subjects: blocks in time without neighbours, the same probe in the span of the vectors, the command."""

import numpy as np
import pytest

from bench.analyses.subject_probe.compute import analyse_cells, probe_windows, recognised
from bench.analyses.subject_probe.record import ANALYSIS, Options
from bench.analyses.subject_probe.report import probe_table
from bench.analyses.trained import load_trained, untrained
from bench.errors import DataError
from bench.train.part import Part
from tests.analyses.contexts import context_for
from tests.fixtures.trained_cells import Trained


def cohort(*n_windows: int) -> Part:
    """Subjects with so many windows each."""
    subject = np.repeat([f"s{number}" for number in range(len(n_windows))], n_windows)
    labels = np.repeat(np.arange(len(n_windows)) % 2, n_windows).astype(np.int64)
    return Part(np.zeros((len(subject), 2, 1), np.float32), labels, subject, np.arange(len(subject)))


def probed(part: Part, n_subjects: int = 9, n_windows: int = 99):
    return probe_windows(part, n_subjects, n_windows, np.random.default_rng(0))


def test_first_windows_fit_and_last_ones_test_without_those_between() -> None:
    windows = probed(cohort(20, 3, 2))
    assert windows.fitted.rows.tolist() == [*range(9), 20]
    assert windows.tested.rows.tolist() == [*range(11, 20), 22]
    assert windows.n_between == 3
    assert windows.chance == 0.9


def test_windows_are_thinned_evenly_and_subjects_drawn() -> None:
    windows = probed(cohort(*[50] * 8), n_subjects=4, n_windows=5)
    assert len(np.unique(windows.fitted.part_subjects)) == 4
    first = windows.fitted.rows[:3] % 50
    assert first.tolist() == [0, 11, 22]
    assert len(windows.tested) == 4 * 2


def test_too_few_windows_are_refused() -> None:
    with pytest.raises(DataError, match="1 of 3 training subjects have 3 windows"):
        probed(cohort(9, 2, 1))


def test_the_span_of_the_vectors_gives_the_same_probe() -> None:
    """Columns of zeros change nothing but the way that the probe is computed."""
    rng = np.random.default_rng(0)
    subjects = np.repeat(["a", "b", "c"], 20)
    centres = rng.normal(size=(3, 8)).repeat(20, axis=0)
    fitted, tested = (centres + rng.normal(0, 1.2, (60, 8)) for _ in range(2))
    few = recognised(fitted, tested, subjects, subjects)
    wide = [np.hstack([vectors, np.zeros((60, 200))]) for vectors in (fitted, tested)]
    assert recognised(wide[0], wide[1], subjects, subjects) == few
    assert 0.6 < few < 1


def test_a_probe_of_noise_is_at_chance() -> None:
    rng = np.random.default_rng(0)
    subjects = np.repeat(np.arange(4).astype(str), 100)
    fitted, tested = (rng.normal(size=(400, 5)) for _ in range(2))
    assert recognised(fitted, tested, subjects, subjects) == pytest.approx(0.25, abs=0.08)


def test_untrained_is_what_training_began_with(trained: Trained) -> None:
    record = trained.records[0]
    first, again = (untrained(record).state_dict() for _ in range(2))
    best = load_trained(trained.out, record).state_dict()
    assert all(first[name].equal(value) for name, value in again.items())
    assert not all(first[name].equal(value) for name, value in best.items())


def test_trained_cells_are_probed_beside_untrained_raw_and_chance(trained: Trained) -> None:
    context = context_for(ANALYSIS, trained.out, trained.data)
    record = analyse_cells(context, trained.with_dropout(0.1), Options(windows=20))
    assert [seed.seed for seed in record.seeds] == [41, 42]
    assert record.chance == pytest.approx(1 / record.n_subjects, abs=0.1)
    # Of two subjects a single seed may be at chance.
    assert np.mean([seed.untrained for seed in record.seeds]) > record.chance
    (row,) = probe_table([record]).rows
    assert row.label == "medmamba"
    assert row.cells[0].mean == pytest.approx(50 * sum(seed.trained for seed in record.seeds))
