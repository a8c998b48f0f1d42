"""The whole measurement, with tiny models in real processes."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from bench.measure import keeping, measure_models, memory, timing
from bench.measure.measure_models import key_of, measure
from bench.measure.plan import Plan
from bench.measure.workload import Subject, Workload
from bench.results.efficiency_record import EfficiencyRecord, TaskShape
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


def measured(plan: Plan) -> list[EfficiencyRecord]:
    found: list[EfficiencyRecord] = []
    measure(plan, lambda _line: None, found.append)
    return found


@pytest.fixture(scope="module")
def records() -> dict[str, EfficiencyRecord]:
    plan = make_plan({name: make_subject(name) for name in ("transformer", "itransformer")})
    return {record.model: record for record in measured(plan)}


def test_every_model_has_a_record(records: dict[str, EfficiencyRecord]) -> None:
    assert set(records) == {"transformer", "itransformer"}


def test_every_workload_is_measured(records: dict[str, EfficiencyRecord]) -> None:
    conditions = records["transformer"].conditions
    assert [(condition.mode, condition.batch, bool(condition.rounds)) for condition in conditions] == [
        ("training", 2, True),
        ("inference", 2, True),
    ]


def test_sizes_are_filled_in(records: dict[str, EfficiencyRecord]) -> None:
    record = records["itransformer"]
    assert record.operations is not None
    assert record.operations.total > 0
    assert record.parameters.total >= record.parameters.forward > 0
    assert record.load_s is not None
    assert all(condition.memory_bytes is not None for condition in record.conditions)


def test_models_of_one_session_say_so(records: dict[str, EfficiencyRecord]) -> None:
    assert len({record.session for record in records.values()}) == 1


def test_keys_differ_by_model_only_where_they_should(records: dict[str, EfficiencyRecord]) -> None:
    assert records["transformer"].key != records["itransformer"].key


def test_model_that_does_not_fit_has_a_record_too() -> None:
    if sys.platform != "linux":
        pytest.skip("the limit of memory is Linux's")
    subject = make_subject(memory_limit_bytes=0)
    (record,) = measured(make_plan({"transformer": subject}))
    assert [condition.batch for condition in record.conditions] == [None, None]
    assert all(
        "out of memory" in condition.message or "died" in condition.message for condition in record.conditions
    )


def test_interrupted_measurement_keeps_the_workloads_that_were_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> Iterator[Workload]:
        yield next(timing.time_in_turns(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(measure_models, "time_in_turns", interrupted)
    found: list[EfficiencyRecord] = []
    plan = make_plan({"transformer": make_subject()})
    with pytest.raises(KeyboardInterrupt):
        measure(plan, lambda _line: None, found.append)
    (record,) = found
    assert len(record.conditions) == 1
    assert record.conditions[0].rounds
    assert record.key != key_of(plan, "transformer", plan.workloads)


def test_key_is_known_beforehand(records: dict[str, EfficiencyRecord]) -> None:
    plan = make_plan({"transformer": make_subject()})
    assert records["transformer"].key == key_of(plan, "transformer", plan.workloads)


@pytest.mark.parametrize(
    "change",
    [
        {"device": "cuda"},
        {"device_name": "another"},
        {"threads": 2},
        {"scan_backend": "torch"},
        {"versions": {"torch": "3"}},
    ],
)
def test_key_changes_with_the_environment(change: dict[str, Any]) -> None:
    plan = make_plan({"transformer": make_subject()})
    elsewhere = replace(plan, environment=ENVIRONMENT.model_copy(update=change))
    keys = [key_of(place, "transformer", place.workloads) for place in (plan, elsewhere)]
    assert keys[0] != keys[1]


def test_key_changes_with_hyperparameters_recipe_and_workloads() -> None:
    subject = make_subject()
    training = subject.training.model_copy(update={"clip_norm": 0.5})
    wider = replace(subject, hyperparameters={**subject.hyperparameters, "d_model": 32})
    plans = [
        make_plan({"transformer": subject})
        for subject in (subject, wider, replace(subject, training=training))
    ]
    keys = {key_of(plan, "transformer", plan.workloads) for plan in plans}
    keys.add(key_of(plans[0], "transformer", [INFERENCE]))
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("error", "lacks_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."), True),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_lack_of_memory_is_told_from_other_errors(error: Exception, lacks_memory: bool) -> None:
    assert memory.is_lack_of_memory(error) is lacks_memory


def test_too_little_memory_to_keep_what_is_freed_is_told(
    records: dict[str, EfficiencyRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(keeping.SHORT_OF_MEMORY in record.warnings for record in records.values())
    monkeypatch.setattr(keeping, "available_bytes", lambda: -1)
    (record,) = measured(make_plan({"transformer": make_subject()}))
    assert keeping.SHORT_OF_MEMORY in record.warnings


def test_memory_is_not_kept_where_it_would_exceed_a_processs_own_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "available_bytes", lambda: 2**62)
    monkeypatch.setattr(keeping, "KEPT", {"inference": 1e6, "training": 1e6})
    (record,) = measured(make_plan({"transformer": make_subject(memory_limit_bytes=2**33)}))
    assert keeping.SHORT_OF_MEMORY in record.warnings


def test_model_that_cannot_be_counted_is_measured_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise measure_models.ModelError("operations cannot be counted")

    monkeypatch.setattr(measure_models, "count_flops", refuse)
    task = TaskShape(dataset="adftd", n_times=32, n_channels=3, n_classes=2)
    lines: list[str] = []
    found = measure_models.size_of(make_subject(), task, lines.append)
    assert found.operations is None
    assert "cannot be counted" in lines[0]
