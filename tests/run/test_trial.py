"""Steps of a trial: up to the recipe's batch where time and memory allow, else as large as they do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.run import trial_steps
from bench.run.planned_inputs import Parts, build_model, load_data
from bench.run.trial_steps import TrialSteps
from tests.run.conftest import jobs_of

Steps = Callable[..., TrialSteps]


@pytest.fixture
def steps(data: Path, tmp_path: Path) -> Steps:
    """Return a function from settings and changes of the job to its steps."""

    def make(*sets: str, **changes: object) -> TrialSteps:
        (job,) = jobs_of(data, tmp_path, "Good", sets=sets)
        job = replace(job, **changes)  # type: ignore[arg-type]
        job.introduce()
        dataset = load_data(job)
        parts = Parts.of(dataset, job.cell.data.split)
        return TrialSteps(job, build_model(job, dataset), parts.train, parts.validation)

    return make


def test_the_last_step_has_the_whole_batch_and_is_timed_several_times(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_steps, "ENOUGH_S", 0.0)
    tried = steps("batch_size=12")
    assert len(tried.grow(20.0)) == 3
    assert list(tried.peaks) == [8, 12]


def test_a_batch_of_more_windows_than_there_are_has_all_of_them(steps: Steps) -> None:
    tried = steps("batch_size=512")
    tried.grow(0.5)
    assert list(tried.peaks) == [8, len(tried.train)]


@pytest.mark.parametrize(("budget_s", "changes"), [(1e-9, {}), (0.5, {"memory_bytes": 0})])
def test_a_step_that_time_or_memory_forbids_is_not_tried(
    steps: Steps, budget_s: float, changes: dict
) -> None:
    tried = steps("batch_size=12", **changes)
    assert len(tried.grow(budget_s)) >= 1
    assert list(tried.peaks) == [8]


def test_memory_is_that_of_a_micro_batch(steps: Steps) -> None:
    tried = steps("batch_size=12", "micro_batch_size=4")
    tried.grow(0.5)
    assert list(tried.peaks) == [4]
