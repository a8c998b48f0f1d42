"""From options to plans: models, sizes and workloads, checked before the first is measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from bench import datasets
from bench.errors import UsageError, unknown_name
from bench.machine import available_bytes, available_cores
from bench.measure.environment import describe, resolve_device
from bench.measure.plan import Plan
from bench.measure.tf32 import forbid_tf32
from bench.measure.workload import Subject, Workload
from bench.models import registry as models
from bench.plan.request import chosen_networks
from bench.results.efficiency_record import TaskShape, Width
from bench.results.record import Environment
from bench.scan import choose_backend
from bench.settings import preset, resolve
from bench.settings.tables import hyperparameter_table

ALSO_MEASURED = "medformer-latest"
WIDTHS: tuple[Width, ...] = ("script", "wide")
GIB = 2**30
SPARED = 0.9
"""Share of the free memory that a process may take; the rest is for the parent and the system."""

SEED = 41
"""Settings are resolved for some seed; the settings used here do not depend on it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The device to measure on. ``memory_limit_bytes`` bounds one model's process on a CPU."""

    environment: Environment
    memory_limit_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The requested measurement; ``limit_s`` and ``half_width`` as in `Plan`."""

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
        training=settings.protocol,
        device=place.environment.device,
        threads=place.environment.threads,
        memory_limit_bytes=place.memory_limit_bytes,
    )


def _wide(model: str) -> dict[str, Any]:
    table = hyperparameter_table(models.entry(model).settings)
    if table is None or table.wide is None:
        raise UsageError(f"--widths wide: {model} has no wide settings; leave it out of --models")
    return table.wide.values()


def measured_names(text: str) -> list[str]:
    """Return the networks of a comma list; ``all`` stands for the twelve and Medformer's later version.

    Raises
    ------
    UsageError
        A name is unknown.
    """
    return chosen_networks(text, [*models.names(all_only=True), ALSO_MEASURED])


def parse_workloads(batch: str, train_batch: str) -> list[Workload]:
    """Return the workloads; no training if its batch is ``none``.

    Raises
    ------
    UsageError
        An entry is not a positive number.
    """
    training = [] if train_batch == "none" else parse_numbers("--train-batch", train_batch)
    return [
        *(Workload("inference", n) for n in parse_numbers("--batch", batch)),
        *(Workload("training", n) for n in training),
    ]


def parse_numbers(option: str, text: str) -> list[int]:
    """Return the numbers of a comma list, without repetition.

    Raises
    ------
    UsageError
        An entry is not a positive number.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"{option} {text!r}: expected positive numbers such as 1,32,256")
    return list(dict.fromkeys(map(int, parts)))


def parse_widths(text: str) -> list[Width]:
    """Return the widths of a comma list.

    Raises
    ------
    UsageError
        A width is unknown.
    """
    chosen = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for width in chosen:
        if width not in WIDTHS:
            raise unknown_name("width", width, WIDTHS)
    return [cast("Width", width) for width in chosen]


def place_of(device: str, threads: int | None, memory_gib: float | None) -> Place:
    """Return the place of measurement: device, threads (default: all cores), scan backend and versions.

    Raises
    ------
    UsageError
        There is no such device, or memory is to be bounded on a GPU.
    """
    device = resolve_device(device)
    if device == "cuda" and memory_gib is not None:
        raise UsageError(f"--memory {memory_gib:g}: bounds processes on a CPU only; leave it out on a GPU")
    # As the processes that are timed do, which this one describes.
    forbid_tf32()
    return Place(
        environment=describe(device, threads or available_cores(), "float32", choose_backend("auto", device)),
        memory_limit_bytes=int(memory_gib * GIB if memory_gib else available_bytes() * SPARED),
    )
