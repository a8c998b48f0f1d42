import gc
from collections.abc import Callable

import torch

from bench.measure.child import Ask, Session, timed_runs
from bench.measure.workload import Workload, prepare
from tests.measure.subjects import make_subject


class FakeClock:
    """Every run takes the same time, and is counted."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.n_runs = seconds, 0

    def time(self, work: Callable[[], None]) -> float:
        work()
        self.n_runs += 1
        return self.seconds


def nothing() -> None:
    pass


def test_runs_fill_the_time() -> None:
    assert timed_runs(nothing, FakeClock(0.1), 0.35, warm_up=False) == [0.1] * 4


def test_slow_model_runs_once() -> None:
    assert timed_runs(nothing, FakeClock(9.0), 0.25, warm_up=False) == [9.0]


def test_warm_up_is_not_among_the_timings() -> None:
    clock = FakeClock(1.0)
    assert len(timed_runs(nothing, clock, 0.5, warm_up=True)) == clock.n_runs - 1


def test_garbage_collection_waits() -> None:
    seen: list[bool] = []
    timed_runs(lambda: seen.append(gc.isenabled()), FakeClock(1.0), 0.5, warm_up=True)
    assert (seen, gc.isenabled()) == ([False, False], True)


def test_session_warms_up_at_first_and_where_runs_are_short() -> None:
    subject = make_subject()
    slow, quick = FakeClock(1.0), FakeClock(0.2)
    for clock in (slow, quick):
        session = Session(subject, subject.load(), clock)
        for _ in range(2):
            session.answer(Ask(Workload("inference", 1), 0.5))
    assert (slow.n_runs, quick.n_runs) == (1 + 1 + 1, 2 * (1 + 3))


def test_training_is_probed_by_its_second_step() -> None:
    """The first one has no state of the optimiser beside its activations."""
    subject, clock = make_subject(), FakeClock(1.0)
    visited = Session(subject, subject.load(), clock).answer(Ask(Workload("training", 1), 0.0))
    assert (clock.n_runs, len(visited.seconds)) == (2, 1)


def test_answer_names_its_workload() -> None:
    subject, workload = make_subject(), Workload("inference", 3)
    session = Session(subject, subject.load(), FakeClock(1.0))
    assert session.answer(Ask(workload, 0.0)).workload == workload


def test_inference_leaves_the_model_alone() -> None:
    subject = make_subject()
    model = subject.load()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    prepare(model, subject, Workload("inference", 2))()
    assert not model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_training_takes_a_whole_step() -> None:
    subject = make_subject()
    model = subject.load()
    before = {name: value.clone() for name, value in model.named_parameters()}
    prepare(model, subject, Workload("training", 2))()
    assert model.training
    assert all(not torch.equal(value, before[name]) for name, value in model.named_parameters())


def test_weights_are_the_same_every_time() -> None:
    first, second = (make_subject().load().state_dict() for _ in range(2))
    assert all(torch.equal(value, second[name]) for name, value in first.items())
