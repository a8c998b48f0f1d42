"""A measurement's plan, and the findings on each model so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.measure.probe import Probe
from bench.measure.rounds import Measured
from bench.measure.workload import Subject, Workload
from bench.results.efficiency_record import Operations, TaskShape, Width
from bench.results.record import Environment, Parameters

Say = Callable[[str], None]
"""Called with one line of progress."""

ROUND_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Models of one width on one task, and how long and how well to measure them.

    Attributes
    ----------
    subjects
        Model names to models.
    environment
        Device, threads and versions.
    limit_s
        Seconds for the timings of one model, all workloads; shared, so that slow models get what fast ones leave.
    half_width
        Half the interval of a median, as a part of it, at which a model is known well enough.
    round_s
        A round of a fast model lasts this long; of a slow one, a single run.
    """

    subjects: Mapping[str, Subject]
    width: Width
    preset: str
    task: TaskShape
    workloads: Sequence[Workload]
    environment: Environment
    limit_s: float
    half_width: float
    round_s: float = ROUND_S


@dataclass
class Findings:
    """The findings on one model so far: its sizes, and probes and timings by the workload asked for."""

    parameters: Parameters
    operations: Operations | None
    probes: dict[Workload, Probe] = field(default_factory=dict)
    troubles: dict[Workload, str] = field(default_factory=dict)
    measured: dict[Workload, Measured] = field(default_factory=dict)
