"""Models in turns, with processes that only pretend to run."""

import itertools
import re
from collections.abc import Callable, Iterator

import pytest

from bench.measure import probe, timing
from bench.measure.child import Loaded, Visited
from bench.measure.plan import Findings, Plan
from bench.measure.probe import Probe
from bench.measure.process import DoesNotFitError, ProcessError, TookTooLongError
from bench.measure.timing import time_in_turns
from bench.measure.watch import Watch
from bench.measure.workload import Subject, Workload
from bench.results.efficiency_record import TaskShape
from bench.results.record import Environment, Parameters
from tests.measure.subjects import make_subject

ONE, MANY = Workload("inference", 1), Workload("inference", 64)
MODELS = ("medmamba", "transformer", "itransformer")
ENVIRONMENT = Environment(
    device="cpu", device_name="test", threads=1, precision="float32", deterministic=True, scan_backend=None,
    platform="test", versions={},
)  # fmt: skip


class Stage:
    """Where pretended processes play: what they were asked, how often they began, and what goes wrong."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Workload]] = []
        self.begun: list[str] = []
        self.open = 0
        self.accident: Callable[[str, Workload, int], ProcessError | None] = lambda *_: None

    def process(self, subject: Subject) -> "Pretended":
        return Pretended(self, subject)


class Pretended:
    def __init__(self, stage: Stage, subject: Subject) -> None:
        self.stage, self.model, self.loaded = stage, subject.model, Loaded(0.1, 1000)
        self.given_up = False
        self.durations = itertools.cycle([0.9, 1.0, 1.1])

    def __enter__(self) -> "Pretended":
        self.stage.begun.append(self.model)
        self.stage.open += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.open -= 1

    def visit(self, workload: Workload, _at_least_s: float, _limit_s: float) -> Visited:
        assert not self.given_up
        self.stage.asked.append((self.model, workload))
        if trouble := self.stage.accident(self.model, workload, len(self.stage.asked)):
            self.given_up = True
            raise trouble
        return Visited(workload, (next(self.durations),), 2000)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    found = Stage()
    for module in (timing, probe):
        monkeypatch.setattr(module, "ModelProcess", found.process)
    yield found
    assert found.open == 0


def run(
    models: tuple[str, ...] = MODELS, *, limit_s: float = 0.0, say: Callable[[str], None] = lambda _line: None
) -> dict[str, Findings]:
    """Take all turns and return what was found; with no time each model has one round."""
    findings = {name: Findings(Parameters(forward=1, total=1), None) for name in models}
    for found in findings.values():
        found.probes.update({w: Probe(w, Loaded(0.1, 0), (1.0 * w.batch,), 1) for w in (ONE, MANY)})
    plan = Plan(
        subjects={name: make_subject(name) for name in models},
        width="script",
        preset="paper",
        task=TaskShape(dataset="adftd", n_times=32, n_channels=3, n_classes=2),
        workloads=[MANY, ONE],
        environment=ENVIRONMENT,
        limit_s=limit_s,
        half_width=0.5,
    )
    done = list(time_in_turns(plan, findings, Watch("cpu"), say))
    assert done == [ONE, MANY]
    return findings


def at(model: str, workload: Workload, error: ProcessError) -> Callable[..., ProcessError | None]:
    """Return an accident of one model at one workload."""
    return lambda name, asked, _n: error if (name, asked) == (model, workload) else None


def test_models_take_turns_and_quick_workloads_come_first(stage: Stage) -> None:
    run()
    assert stage.asked == [(name, workload) for workload in (ONE, MANY) for name in MODELS]


def test_slow_workloads_have_more_of_the_time_and_quick_ones_are_not_left_without(stage: Stage) -> None:
    lines: list[str] = []
    run(limit_s=100.0, say=lines.append)
    quick, slow = (float(re.findall(r"at most (\d+) s", line)[0]) for line in lines)
    assert len(MODELS) * 100 / 20 < quick < slow


def test_one_process_serves_all_workloads_of_a_model(stage: Stage) -> None:
    run()
    assert stage.begun == list(MODELS)


def test_medmamba_stays_until_the_last_model_has_done(stage: Stage) -> None:
    findings = run(("medmamba", "transformer"), limit_s=60.0)
    rounds = [len(findings[name].measured[ONE].rounds) for name in ("medmamba", "transformer")]
    assert rounds[0] == rounds[1] >= 6


def test_model_that_was_late_has_a_new_process_for_the_next_workload(stage: Stage) -> None:
    stage.accident = at("transformer", ONE, TookTooLongError("no answer in time"))
    found = run()["transformer"]
    assert (found.measured[ONE].rounds, found.measured[ONE].message) == ((), "no answer in time")
    assert found.measured[MANY].rounds
    assert stage.begun.count("transformer") == 2


def test_batch_that_does_not_fit_beside_the_others_is_halved(stage: Stage) -> None:
    def crowded(name: str, workload: Workload, _n: int) -> ProcessError | None:
        return DoesNotFitError("out of memory") if name == "transformer" and workload.batch > 20 else None

    stage.accident = crowded
    found = run()["transformer"]
    assert found.probes[MANY].workload.batch == 16
    assert found.probes[MANY].memory_bytes == 1000
    assert found.measured[MANY].rounds


def test_batch_is_never_halved_between_rounds(stage: Stage) -> None:
    def later(name: str, _workload: Workload, n: int) -> ProcessError | None:
        return DoesNotFitError("out of memory") if name == "transformer" and n > 3 else None

    stage.accident = later
    found = run(("medmamba", "transformer"), limit_s=60.0)["transformer"]
    assert found.probes[ONE].workload == ONE
    assert found.measured[ONE].stop == "fell out"


def test_model_whose_process_does_not_start_leaves_the_others_alone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(subject: Subject) -> Pretended:
        if subject.model == "transformer":
            raise ProcessError("cannot be loaded")
        return stage.process(subject)

    monkeypatch.setattr(timing, "ModelProcess", start)
    findings = run()
    assert findings["transformer"].troubles == dict.fromkeys((ONE, MANY), "cannot be loaded")
    assert findings["itransformer"].measured[MANY].rounds
