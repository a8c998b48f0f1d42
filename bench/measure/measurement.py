"""From what is asked for to plans: models, sizes and workloads, checked before the first is measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench import datasets
from bench.errors import UsageError
from bench.measure.plan import Plan
from bench.measure.workload import Subject, Workload
from bench.models import registry as models
from bench.results.efficiency_record import TaskShape, Width
from bench.results.record import Environment
from bench.settings import preset, resolve
from bench.settings.tables import hyperparameter_table

SEED = 41
"""Settings are resolved for a seed; none of those that matter here depends on it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to measure. ``memory_limit_bytes`` bounds one model's process on a CPU."""

    environment: Environment
    memory_limit_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What is asked for; ``limit_s`` and ``half_width`` as in `Plan`."""

    models: Sequence[str]
    datasets: Sequence[str]
    widths: Sequence[Width]
    workloads: Sequence[Workload]
    preset: str
    place: Place
    limit_s: float
    half_width: float

    def plans(self) -> list[Plan]:
        """Return one plan per dataset and width.

        Raises
        ------
        UsageError
            A dataset has no classes, or a model no wide settings.
        """
        return [self._plan(task, width) for task in map(task_of, self.datasets) for width in self.widths]

    def _plan(self, task: TaskShape, width: Width) -> Plan:
        return Plan(
            subjects={name: subject_of(name, task, width, self.preset, self.place) for name in self.models},
            width=width,
            preset=self.preset,
            task=task,
            workloads=self.workloads,
            environment=self.place.environment,
            limit_s=self.limit_s,
            half_width=self.half_width,
        )


def task_of(dataset: str) -> TaskShape:
    """Return the shape of a dataset's windows.

    Raises
    ------
    UsageError
        It is unknown, or has no classes.
    """
    facts = datasets.facts(dataset)
    if facts.n_classes < 2:
        raise UsageError(
            f"dataset '{dataset}' has no classes, so that no model can be built for it; name another"
        )
    return TaskShape(
        dataset=dataset, n_times=facts.n_times, n_channels=facts.n_channels, n_classes=facts.n_classes
    )


def subject_of(model: str, task: TaskShape, width: Width, preset_name: str, place: Place) -> Subject:
    """Return a model of its published size for a task; ``wide`` lays the file's wide settings over it.

    Raises
    ------
    UsageError
        The model has no wide settings.
    """
    chosen = preset(preset_name)
    settings = resolve(model, task.dataset, SEED, recipe_name=chosen.recipe, preset=chosen, assignments={})
    return Subject(
        entry=models.entry(model),
        hyperparameters=settings.hyperparameters | (_wide(model) if width == "wide" else {}),
        n_channels=task.n_channels,
        n_times=task.n_times,
        n_classes=task.n_classes,
        training=settings.training,
        device=place.environment.device,
        threads=place.environment.threads,
        memory_limit_bytes=place.memory_limit_bytes,
    )


def _wide(model: str) -> dict[str, Any]:
    table = hyperparameter_table(models.entry(model).settings)
    if table is None or table.wide is None:
        raise UsageError(f"--widths wide: {model} has no wide settings; leave it out of --models")
    return table.wide.values()
