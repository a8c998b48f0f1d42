"""What models cost on one device: sizes, memory, then timings in turns, as records."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from bench.errors import ModelError
from bench.measure.flops import count_flops
from bench.measure.machine import read_machine, warnings_of
from bench.measure.parameters import count_parameters
from bench.measure.plan import Findings, Plan, Say
from bench.measure.probe import largest_that_fits
from bench.measure.process import ProcessError
from bench.measure.timing import RUN_LIMIT_S, time_in_turns
from bench.measure.workload import Subject, Workload
from bench.models import registry
from bench.results.efficiency import Condition, EfficiencyRecord, Operations, TaskShape, efficiency_key


def measure(plan: Plan, say: Say) -> list[EfficiencyRecord]:
    """Measure the models of a plan; one record for each, also where a workload could not be run.

    Whoever calls this holds the device, see `bench.measure.exclusive`.
    """
    session = datetime.now(UTC).isoformat(timespec="seconds")
    before = read_machine(plan.environment.device)
    say("parameters and operations")
    findings = {name: size_of(subject, plan.task, say) for name, subject in plan.subjects.items()}
    for name, subject in plan.subjects.items():
        say(f"{name}: memory")
        probe_all(subject, plan.workloads, findings[name], say)
    clocks_mhz = time_in_turns(plan, findings, say)
    warnings = warnings_of(
        before,
        read_machine(plan.environment.device),
        threads=plan.environment.threads,
        clocks_mhz=clocks_mhz,
    )
    return [_record(plan, name, session, found, warnings) for name, found in findings.items()]


def size_of(subject: Subject, task: TaskShape, say: Say) -> Findings:
    """Count parameters and operations, before anything that takes long; operations are None where they cannot be."""
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


def _record(
    plan: Plan, name: str, session: str, found: Findings, warnings: tuple[str, ...]
) -> EfficiencyRecord:
    subject, task = plan.subjects[name], plan.task
    loaded = [probe.loaded for probe in found.probes.values()]
    scan_backend = loaded[0].scan_backend if loaded else None
    environment = plan.environment.model_copy(update={"scan_backend": scan_backend})
    identity = {
        "model": name,
        "revision": registry.revision(name),
        "hyperparameters": dict(subject.hyperparameters),
        "task": task.model_dump(),
        "workloads": sorted(str(one) for one in plan.workloads),
        "training": subject.training.model_dump(mode="json"),
    }
    return EfficiencyRecord(
        schema=1,
        key=efficiency_key(identity=identity, environment=environment),
        session=session,
        model=name,
        width=plan.width,
        preset=plan.preset,
        task=task,
        hyperparameters=dict(subject.hyperparameters),
        revision=registry.revision(name),
        environment=environment,
        parameters=found.parameters,
        operations=found.operations,
        load_s=statistics.median(one.load_s for one in loaded) if loaded else None,
        conditions=tuple(_condition(workload, found) for workload in plan.workloads),
        half_width_asked=plan.half_width,
        limit_s=plan.limit_s,
        warnings=warnings,
    )


def _condition(workload: Workload, found: Findings) -> Condition:
    probe, measured = found.probes.get(workload), found.measured.get(workload)
    if probe is None or measured is None or not measured.rounds:
        message = found.troubles.get(workload) or (measured.message if measured else "not run")
        return Condition(
            mode=workload.mode,
            batch_asked=workload.batch,
            batch=None,
            memory_bytes=probe.memory_bytes if probe else None,
            message=message,
        )
    return Condition(
        mode=workload.mode,
        batch_asked=workload.batch,
        batch=probe.workload.batch,
        rounds=measured.rounds,
        stop=measured.stop,
        memory_bytes=probe.memory_bytes,
        message=measured.message,
    )
