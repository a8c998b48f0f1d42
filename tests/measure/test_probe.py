import os
import signal
import sys
from dataclasses import replace

import pytest

from bench.measure import probe, process
from bench.measure.child import Loaded, Visited
from bench.measure.probe import largest_that_fits
from bench.measure.process import DoesNotFitError, ModelProcess, ProcessError, TookTooLongError
from bench.measure.workload import Subject, Workload
from tests.measure.subjects import make_subject

LIMIT_S = 60.0
MIB = 2**20

linux = pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")


def test_process_answers_with_timings_and_a_peak() -> None:
    with ModelProcess(make_subject()) as running:
        visited = running.visit(Workload("inference", 2), 0.0, LIMIT_S)
    assert len(visited.seconds) == 1
    assert visited.peak_bytes > running.loaded.before_bytes > 0


def test_process_is_gone_after_its_block() -> None:
    with ModelProcess(make_subject()) as running:
        number = running._child.pid
    assert number is not None
    with pytest.raises(ProcessLookupError, match="No such process"):
        os.kill(number, 0)


def test_error_of_a_model_is_told() -> None:
    subject = make_subject(n_times=32)
    broken = replace(subject, hyperparameters={"d_model": 15})
    with pytest.raises(ProcessError, match="d_model must be"), ModelProcess(broken):
        pass


def test_late_answer_is_given_up() -> None:
    with (
        ModelProcess(make_subject()) as running,
        pytest.raises(TookTooLongError, match="inference at batch 64: no answer in time"),
    ):
        running.visit(Workload("inference", 64), 60.0, 0.2)


def test_process_that_is_late_is_ended_and_never_answers_another_question() -> None:
    with ModelProcess(make_subject()) as running:
        number = running._child.pid
        assert number is not None
        with pytest.raises(TookTooLongError):
            running.visit(Workload("inference", 64), 0.5, 0.1)
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
        with pytest.raises(ProcessError, match="inference at batch 1: its process was given up before"):
            running.visit(Workload("inference", 1), 0.0, LIMIT_S)


@linux
def test_first_visit_of_training_holds_the_optimisers_state() -> None:
    """Activations outweigh the weights, so a peak without the state would grow by 8 bytes a weight in later steps.

    Many weights and few windows: what the allocator leaves unused grows with the activations.
    """
    subject = make_subject(n_times=64)
    wide = replace(subject, hyperparameters={**subject.hyperparameters, "d_model": 1024, "d_ff": 4096})
    n_weights = sum(weights.numel() for weights in wide.build().parameters())
    with ModelProcess(wide) as running:
        peaks = [running.visit(Workload("training", 16), 0.0, LIMIT_S).peak_bytes for _ in range(2)]
    assert peaks[1] - peaks[0] < 4 * n_weights


@linux
def test_model_of_no_size_takes_no_memory_in_training() -> None:
    found = probe.probe(make_subject("itransformer"), Workload("training", 1), limit_s=LIMIT_S)
    assert found.memory_bytes < 10 * MIB


@linux
def test_larger_memory_of_a_larger_batch_is_seen() -> None:
    small, large = (
        probe.probe(make_subject(), Workload("training", batch), limit_s=LIMIT_S) for batch in (1, 2048)
    )
    assert large.memory_bytes > small.memory_bytes + 10 * MIB


@linux
def test_batch_is_halved_until_it_fits() -> None:
    """A training step of 16384 windows keeps hundreds of MiB of activations."""
    subject = make_subject(memory_limit_bytes=150 * MIB)
    found = largest_that_fits(subject, Workload("training", 16384), limit_s=LIMIT_S)
    assert 1 <= found.workload.batch < 16384
    assert found.memory_bytes < 250 * MIB


@linux
def test_nothing_fits() -> None:
    with pytest.raises(DoesNotFitError, match="out of memory"):
        largest_that_fits(
            make_subject(n_times=2**20, memory_limit_bytes=40 * MIB),
            Workload("inference", 1),
            limit_s=LIMIT_S,
        )


class DyingProcess:
    """Stands for a process that the system kills above a batch."""

    largest = 24

    def __init__(self, _subject: Subject) -> None:
        self.loaded = Loaded(0.1, 1000)

    def __enter__(self) -> "DyingProcess":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def visit(self, workload: Workload, _at_least_s: float, _limit_s: float) -> Visited:
        if workload.batch > self.largest:
            raise DoesNotFitError("killed")
        return Visited(workload, (0.5,), 3000)


def test_largest_by_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "ModelProcess", DyingProcess)
    found = largest_that_fits(make_subject(), Workload("inference", 256), limit_s=1.0)
    assert (found.workload, found.memory_bytes) == (Workload("inference", 16), 2000)


def test_killed_process_is_taken_for_one_without_memory() -> None:
    with ModelProcess(make_subject()) as running:
        assert running._child.pid is not None
        os.kill(running._child.pid, signal.SIGKILL)
        running._child.process.join(process.GRACE_S)
        with pytest.raises(DoesNotFitError, match="SIGKILL, as without memory"):
            running.visit(Workload("inference", 1), 0.0, LIMIT_S)


def test_other_death_is_not_taken_for_a_lack_of_memory() -> None:
    with ModelProcess(make_subject()) as running:
        running._child.process.terminate()
        running._child.process.join(process.GRACE_S)
        with pytest.raises(ProcessError, match="exit code -15") as caught:
            running.visit(Workload("inference", 1), 0.0, LIMIT_S)
    assert not isinstance(caught.value, DoesNotFitError)
