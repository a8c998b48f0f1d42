"""How operations, time and memory of each model grow with the length of the window, in inference.

Source of the claim: MedMamba paper, section on efficiency (linear against quadratic).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench import datasets
from bench.analyses.context import Context, Say
from bench.analyses.scaling.record import Options, ScalingCurve, ScalingPoint, ScalingRecord, scaling_key
from bench.errors import ModelError, UsageError
from bench.measure.exclusive import measuring
from bench.measure.flops import count_flops
from bench.measure.keeping import SHORT_OF_MEMORY, may_keep
from bench.measure.measurement import measured_names, parse_numbers, place_of, subject_of, task_of
from bench.measure.probe import probe
from bench.measure.process import DoesNotFitError, ProcessError, TookTooLongError
from bench.measure.watch import Watch
from bench.measure.workload import Subject, Workload
from bench.models import registry
from bench.plan.request import chosen_names
from bench.results.record import Environment

RUNS_S = 0.5
"""Seconds that a model runs at each length; it runs at least once."""


def run(context: Context, options: Options) -> None:
    """Measure operations, time and memory over window lengths, with the device held."""
    plan = plan_of(options, context.data or context.default_data)
    with measuring(plan.environment.device):
        measure_scaling(plan, context.say, context.write)


def plan_of(options: Options, data: Path) -> "ScalingPlan":
    """Return the plan for the options.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    datasets.register_imported(data)
    names = chosen_names("dataset", options.datasets, datasets)
    if len(names) != 1:
        raise UsageError(f"--datasets {options.datasets!r}: expected one dataset, got {', '.join(names)}")
    place = place_of(options.device, options.threads, options.memory)
    task = task_of(names[0])
    return ScalingPlan(
        subjects={
            name: subject_of(name, task, "script", "paper", place) for name in measured_names(options.models)
        },
        dataset=names[0],
        lengths=parse_numbers("--lengths", options.lengths),
        batch=options.batch,
        limit_s=options.time_limit,
        environment=place.environment,
    )


@dataclass(frozen=True, kw_only=True)
class ScalingPlan:
    """Models, lengths and how long each model may take for all of its lengths.

    The lengths replace ``n_times`` of the subjects.
    """

    subjects: Mapping[str, Subject]
    dataset: str
    lengths: Sequence[int]
    batch: int
    limit_s: float
    environment: Environment


def measure_scaling(plan: ScalingPlan, say: Say, keep: Callable[[ScalingRecord], object]) -> None:
    """Measure all models at all lengths and pass the record to ``keep``; if interrupted, of the models done by then.

    The caller must hold the device's lock.
    """
    session = datetime.now(UTC).isoformat(timespec="seconds")
    watch = Watch(plan.environment.device)
    curves: list[ScalingCurve] = []
    try:
        for name, subject in plan.subjects.items():
            say(f"{name}: {', '.join(map(str, plan.lengths))} steps")
            curves.append(_curve(subject, plan, watch, say))
    finally:
        if curves:
            keep(_record(plan, session, curves, watch.warnings()))


def _record(
    plan: ScalingPlan, session: str, curves: Sequence[ScalingCurve], warnings: tuple[str, ...]
) -> ScalingRecord:
    return ScalingRecord(
        schema=1,
        key=scaling_key(curves=curves, dataset=plan.dataset, batch=plan.batch, environment=plan.environment),
        session=session,
        dataset=plan.dataset,
        n_channels=next(iter(plan.subjects.values())).n_channels,
        batch=plan.batch,
        limit_s=plan.limit_s,
        environment=plan.environment,
        curves=tuple(curves),
        warnings=warnings,
    )


def _curve(subject: Subject, plan: ScalingPlan, watch: Watch, say: Say) -> ScalingCurve:
    """Measure lengths in ascending order; after one that does not fit or end in time, only operations are counted."""
    sizes = [replace(subject, n_times=n_times) for n_times in sorted(plan.lengths)]
    counted = [_counted(size, say) for size in sizes]
    points, stopped = [], ""
    deadline = time.monotonic() + plan.limit_s
    for size, point in zip(sizes, counted, strict=True):
        if stopped:
            point = point.model_copy(update={"message": stopped})
        elif not point.message:
            point = _timed(size, point, plan, deadline)
            watch.look()
            if point.message:
                say(f"{subject.model}: {point.message}")
            stopped = "" if point.seconds else point.message
        points.append(point)
    return ScalingCurve(
        model=subject.model,
        revision=registry.revision(subject.model),
        hyperparameters=dict(subject.hyperparameters),
        points=tuple(points),
    )


def _counted(subject: Subject, say: Say) -> ScalingPoint:
    """Return a point with its operations; without them if they cannot be counted or the model refuses the length."""
    point = ScalingPoint(n_times=subject.n_times, operations=None)
    try:
        flops = count_flops(subject.build, subject.n_times, subject.n_channels)
    except (ModelError, UsageError) as error:
        say(f"{subject.model} at {subject.n_times} steps: {error}")
        refused = isinstance(error, UsageError)
        return (
            point.model_copy(update={"message": f"not at {subject.n_times} steps: {error}"})
            if refused
            else point
        )
    return point.model_copy(update={"operations": flops.total})


def _timed(subject: Subject, point: ScalingPoint, plan: ScalingPlan, deadline: float) -> ScalingPoint:
    """Add time and memory to a point, or the reason for their absence."""
    left_s = deadline - time.monotonic()
    stop = f"stopped at {point.n_times} steps: "
    if left_s <= 0:
        return point.model_copy(update={"message": f"{stop}the limit of {plan.limit_s:g} s is used up"})
    workload = Workload("inference", plan.batch)
    try:
        found = probe(subject, workload, limit_s=left_s)
        keeps = subject.device == "cpu" and may_keep([(subject, found)])
        # A second process: a process that keeps freed memory peaks above what the model needs.
        timed = probe(
            replace(subject, keeps_memory=keeps),
            workload,
            limit_s=max(0.0, deadline - time.monotonic()),
            at_least_s=RUNS_S,
        )
    except TookTooLongError:
        return point.model_copy(update={"message": f"{stop}not done within the limit of {plan.limit_s:g} s"})
    except DoesNotFitError:
        return point.model_copy(update={"message": f"{stop}batch {plan.batch} does not fit in memory"})
    except ProcessError as error:
        return point.model_copy(update={"message": f"{stop}{error}"})
    is_short = subject.device == "cpu" and not keeps
    message = f"at {point.n_times} steps {SHORT_OF_MEMORY}" if is_short else ""
    return point.model_copy(
        update={"seconds": timed.seconds, "memory_bytes": found.memory_bytes, "message": message}
    )
