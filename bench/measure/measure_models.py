"""Measures models on one device, as records: sizes, memory, then timings in turns."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

from bench.errors import ModelError
from bench.measure.flops import count_flops
from bench.measure.keeping import SHORT_OF_MEMORY, may_keep
from bench.measure.parameters import count_parameters
from bench.measure.plan import Findings, Plan, Say
from bench.measure.probe import largest_that_fits
from bench.measure.process import ProcessError
from bench.measure.timing import RUN_LIMIT_S, time_in_turns
from bench.measure.watch import Watch
from bench.measure.workload import Subject, Workload
from bench.models import registry
from bench.results.efficiency_record import (
    EfficiencyRecord,
    Operations,
    TaskShape,
    TimedWorkload,
    efficiency_key,
)


def measure(plan: Plan, say: Say, keep: Callable[[EfficiencyRecord], object]) -> None:
    """Measure the models of a plan and give ``keep`` a record of each, also where a workload could not be run.

    An interrupted measurement keeps the workloads that were done by then. The caller must hold the device's lock, see
    `bench.measure.exclusive`.
    """
    session = datetime.now(UTC).isoformat(timespec="seconds")
    watch = Watch(plan.environment.device)
    say("parameters and operations")
    findings = {name: size_of(subject, plan.task, say) for name, subject in plan.subjects.items()}
    for name, subject in plan.subjects.items():
        say(f"{name}: memory")
        probe_all(subject, plan.workloads, findings[name], say)
        watch.look()
    remarks = ()
    if plan.environment.device == "cpu":
        if _may_keep(plan, findings):
            plan = _keeping_memory(plan)
        else:
            remarks = (SHORT_OF_MEMORY,)
    done: list[Workload] = []
    try:
        for workload in time_in_turns(plan, findings, watch, say):
            done.append(workload)
    finally:
        warnings = (*watch.warnings(), *remarks)
        for name, found in findings.items():
            if done:
                keep(_record(plan, name, session, found, done, warnings))


def _may_keep(plan: Plan, findings: Mapping[str, Findings]) -> bool:
    """Tell whether all models' processes, which run the same workload at a time, may keep what they free."""
    return all(
        may_keep(
            (plan.subjects[name], found.probes[workload])
            for name, found in findings.items()
            if workload in found.probes
        )
        for workload in plan.workloads
    )


def _keeping_memory(plan: Plan) -> Plan:
    """Return the plan for processes that keep freed memory."""
    subjects = {name: replace(subject, keeps_memory=True) for name, subject in plan.subjects.items()}
    return replace(plan, subjects=subjects)


def size_of(subject: Subject, task: TaskShape, say: Say) -> Findings:
    """Count parameters and operations, which takes little time; operations are None if they cannot be counted."""
    parameters = count_parameters(subject.build(), task.n_times, task.n_channels)
    try:
        flops = count_flops(subject.build, task.n_times, task.n_channels)
    except ModelError as error:
        say(f"{subject.model}: {error}")
        return Findings(parameters, None)
    return Findings(parameters, Operations(**asdict(flops)))


def probe_all(subject: Subject, workloads: Sequence[Workload], found: Findings, say: Say) -> None:
    """Find the batch that fits and the peak of memory of every workload, each in a fresh process."""
    for workload in workloads:
        try:
            probe = largest_that_fits(subject, workload, limit_s=RUN_LIMIT_S)
        except ProcessError as trouble:
            found.troubles[workload] = str(trouble)
            say(str(trouble))
            continue
        found.probes[workload] = probe
        if probe.workload != workload:
            say(f"{subject.model}: {workload} does not fit in memory, {probe.workload.batch} does")


def key_of(plan: Plan, name: str, workloads: Sequence[Workload]) -> str:
    """Return the key of a model's record, known before it is measured."""
    subject = plan.subjects[name]
    identity = {
        "model": name,
        "revision": registry.revision(name),
        "hyperparameters": dict(subject.hyperparameters),
        "task": plan.task.model_dump(),
        "workloads": sorted(str(workload) for workload in workloads),
        "training": subject.training.model_dump(mode="json"),
    }
    return efficiency_key(identity=identity, environment=plan.environment)


def _record(
    plan: Plan,
    name: str,
    session: str,
    found: Findings,
    done: Sequence[Workload],
    warnings: tuple[str, ...],
) -> EfficiencyRecord:
    subject = plan.subjects[name]
    workloads = [workload for workload in plan.workloads if workload in done]
    load_s = [probe.loaded.load_s for probe in found.probes.values()]
    return EfficiencyRecord(
        schema=1,
        key=key_of(plan, name, workloads),
        session=session,
        model=name,
        width=plan.width,
        preset=plan.preset,
        task=plan.task,
        hyperparameters=dict(subject.hyperparameters),
        revision=registry.revision(name),
        environment=plan.environment,
        parameters=found.parameters,
        operations=found.operations,
        load_s=statistics.median(load_s) if load_s else None,
        conditions=tuple(_condition(name, workload, found) for workload in workloads),
        half_width_asked=plan.half_width,
        limit_s=plan.limit_s,
        warnings=warnings,
    )


def _condition(name: str, workload: Workload, found: Findings) -> TimedWorkload:
    """Return the record of a workload; without timings its batch is that of the memory measurement."""
    probe, measured = found.probes.get(workload), found.measured.get(workload)
    trouble = found.troubles.get(workload) or (
        measured.message if measured else f"{name}, {workload}: not run"
    )
    return TimedWorkload(
        mode=workload.mode,
        batch_asked=workload.batch,
        batch=probe.workload.batch if probe else None,
        rounds=measured.rounds if measured else (),
        stop=measured.stop if measured else "",
        memory_bytes=probe.memory_bytes if probe else None,
        message=trouble,
    )
