"""The whole measurement, with tiny models in real processes."""

import sys
from collections.abc import Mapping

import pytest

from bench.measure import efficiency, machine, memory
from bench.measure.efficiency import measure
from bench.measure.machine import Reading, warnings_of
from bench.measure.plan import Plan
from bench.measure.workload import Subject, Workload
from bench.results.efficiency import EfficiencyRecord, TaskShape
from bench.results.record import Environment
from tests.measure.subjects import make_subject

ENVIRONMENT = Environment(
    device="cpu", device_name="test", threads=1, precision="float32", deterministic=True, scan_backend=None,
    platform="test", versions={"torch": "2"},
)  # fmt: skip
INFERENCE, TRAINING = Workload("inference", 2), Workload("training", 2)


def make_plan(subjects: Mapping[str, Subject]) -> Plan:
    return Plan(
        subjects=subjects,
        width="script",
        preset="paper",
        task=TaskShape(dataset="adftd", n_times=32, n_channels=3, n_classes=2),
        workloads=[TRAINING, INFERENCE],
        environment=ENVIRONMENT,
        limit_s=3.0,
        half_width=0.5,
        round_s=0.0,
    )


@pytest.fixture(scope="module")
def records() -> dict[str, EfficiencyRecord]:
    plan = make_plan({name: make_subject(name) for name in ("transformer", "itransformer")})
    return {record.model: record for record in measure(plan, lambda _line: None)}


def test_every_model_has_a_record(records: dict[str, EfficiencyRecord]) -> None:
    assert set(records) == {"transformer", "itransformer"}


def test_every_workload_is_measured(records: dict[str, EfficiencyRecord]) -> None:
    conditions = records["transformer"].conditions
    assert [(one.mode, one.batch, bool(one.rounds)) for one in conditions] == [
        ("training", 2, True),
        ("inference", 2, True),
    ]


def test_sizes_are_filled_in(records: dict[str, EfficiencyRecord]) -> None:
    record = records["itransformer"]
    assert record.operations is not None
    assert record.operations.total > 0
    assert record.parameters.total >= record.parameters.forward > 0
    assert record.load_s is not None
    assert all(one.memory_bytes is not None for one in record.conditions)


def test_models_of_one_session_say_so(records: dict[str, EfficiencyRecord]) -> None:
    assert len({record.session for record in records.values()}) == 1


def test_keys_differ_by_model_only_where_they_should(records: dict[str, EfficiencyRecord]) -> None:
    assert records["transformer"].key != records["itransformer"].key


def test_model_that_does_not_fit_has_a_record_too() -> None:
    if sys.platform != "linux":
        pytest.skip("the limit of memory is Linux's")
    subject = make_subject(memory_limit_bytes=0)
    (record,) = measure(make_plan({"transformer": subject}), lambda _line: None)
    assert [one.batch for one in record.conditions] == [None, None]
    assert all("out of memory" in one.message or "died" in one.message for one in record.conditions)


def test_other_load_is_warned_of() -> None:
    found = warnings_of(Reading(3.0, None), Reading(5.0, None), threads=2, clocks_mhz=[])
    assert [text.partition(",")[0] for text in found] == [
        "load average 3.0 before the measurement: other work was running",
        "load average 5.0 at its end",
    ]


def test_own_load_is_not_warned_of() -> None:
    assert warnings_of(Reading(0.1, None), Reading(2.2, None), threads=2, clocks_mhz=[]) == ()


@pytest.mark.parametrize(("clocks", "n_warnings"), [([1400, 1410, 1395], 0), ([1400, 900], 1)])
def test_moving_clock_is_warned_of(clocks: list[int], n_warnings: int) -> None:
    assert (
        len(warnings_of(Reading(0.0, 1400), Reading(0.0, 1400), threads=1, clocks_mhz=clocks)) == n_warnings
    )


def test_cpu_has_no_gpu_clock() -> None:
    assert machine.read_machine("cpu").gpu_clock_mhz is None


@pytest.mark.parametrize(
    ("error", "lacks_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_lack_of_memory_is_told_from_other_errors(error: Exception, lacks_memory: bool) -> None:
    assert memory.is_lack_of_memory(error) is lacks_memory


def test_model_that_cannot_be_counted_is_measured_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise efficiency.ModelError("operations cannot be counted")

    monkeypatch.setattr(efficiency, "count_flops", refuse)
    task = TaskShape(dataset="adftd", n_times=32, n_channels=3, n_classes=2)
    lines: list[str] = []
    found = efficiency.size_of(make_subject(), task, lines.append)
    assert found.operations is None
    assert "cannot be counted" in lines[0]
