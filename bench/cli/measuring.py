"""What ``bench efficiency`` and ``bench analyze scaling`` do between their options and their tables."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from bench import datasets
from bench.errors import UsageError, unknown_name
from bench.models import registry as models
from bench.plan.select import parse_names
from bench.results.efficiency import TaskShape, Width
from bench.settings import preset, resolve
from bench.settings.tables import hyperparameter_table

ALSO_MEASURED = "medformer-latest"
SEED = 41
WIDTHS: tuple[Width, ...] = ("script", "wide")
GIB = 2**30
# Left to the parent and the system when a process may take what is free.
SPARED = 0.9


def measured_names(text: str) -> list[str]:
    """Return the models of a comma list; ``all`` stands for the twelve and Medformer's later version.

    Raises
    ------
    UsageError
        A name is unknown.
    """
    return parse_names("model", text, models.names(), [*models.names(all_only=True), ALSO_MEASURED])


def parse_numbers(option: str, text: str) -> list[int]:
    """Return the numbers of a comma list, without repetition; none for ``none``.

    Raises
    ------
    UsageError
        An entry is not a positive number.
    """
    if text == "none":
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
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
    for one in chosen:
        if one not in WIDTHS:
            raise unknown_name("width", one, WIDTHS)
    return [cast("Width", one) for one in chosen]


def task_of(dataset: str, n_times: int | None = None) -> TaskShape:
    """Return the shape of a dataset's windows, of another length if given."""
    facts = datasets.facts(dataset)
    return TaskShape(
        dataset=dataset,
        n_times=n_times or facts.n_times,
        n_channels=facts.n_channels,
        n_classes=facts.n_classes,
    )


def machine_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return device, threads and the memory that one model's process may take, from the options."""
    from bench.measure.memory import available_bytes
    from bench.run.environment import resolve_device

    device = resolve_device(options["device"])
    memory = options["memory"]
    limit = int(memory * GIB) if memory else int(available_bytes() * SPARED)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {"device": device, "threads": options["threads"] or cores, "memory_limit_bytes": limit}


def subject_of(
    model: str, task: TaskShape, width: Width, preset_name: str, machine: Mapping[str, Any]
) -> Any:
    """Return a model of its published size for a task; ``wide`` lays the file's wide settings over it.

    Raises
    ------
    UsageError
        The model has no wide settings.
    """
    from bench.measure.workload import Subject

    chosen = preset(preset_name)
    settings = resolve(model, task.dataset, SEED, recipe_name=chosen.recipe, preset=chosen, assignments={})
    return Subject(
        model=model,
        hyperparameters=settings.hyperparameters | _wide(model)
        if width == "wide"
        else settings.hyperparameters,
        n_channels=task.n_channels,
        n_times=task.n_times,
        n_classes=task.n_classes,
        training=settings.training,
        **machine,
    )


def _wide(model: str) -> dict[str, Any]:
    table = hyperparameter_table(models.entry(model).settings)
    if table is None or table.wide is None:
        raise UsageError(f"--widths wide: {model} has no wide settings; leave it out of --models")
    return table.wide.values()


def measure_and_report(out: Path, report: Path, options: Mapping[str, Any]) -> None:
    """Measure, write the records, print the tables and write the report's files."""
    measure_and_write(out, options)
    show(out, report)


def measure_and_write(out: Path, options: Mapping[str, Any]) -> None:
    """Measure and write the records."""
    from bench.measure.exclusive import measuring
    from bench.results.efficiency import write_efficiency
    from bench.results.store import require_writable

    plans = _plans(options)
    require_writable(out)
    with measuring(plans[0].environment.device):
        from bench.measure.efficiency import measure

        for plan in plans:
            say(f"{plan.task.dataset}, width {plan.width}: {len(plan.subjects)} models")
            for record in measure(plan, say):
                write_efficiency(out, record)


def measure_missing(out: Path, names: Sequence[str], dataset: str, preset_name: str) -> None:
    """Measure the models that a results folder has no measurement of at a preset's sizes, and write the records."""
    from bench.results.efficiency import read_efficiency

    known = {
        one.model
        for one in read_efficiency(out)[0]
        if one.task.dataset == dataset and one.preset == preset_name
    }
    missing = [name for name in names if name not in known]
    if not missing:
        say("efficiency: measured already")
        return
    sizes = preset(preset_name).efficiency
    measure_and_write(
        out,
        {
            "models": ",".join(missing),
            "datasets": dataset,
            "widths": "script",
            "batch": sizes.batch,
            "train_batch": sizes.train_batch,
            "time_limit": sizes.time_limit,
            "preset": preset_name,
            "device": "auto",
            "threads": None,
            "memory": None,
            "interval": 5.0,
        },
    )


def _plans(options: Mapping[str, Any]) -> Sequence[Any]:
    """Return what is measured, one plan per dataset and width; everything is checked before the first starts."""
    from bench.measure.plan import Plan
    from bench.measure.workload import Workload
    from bench.run.environment import describe

    names = measured_names(options["models"])
    with_classes = datasets.names(all_only=True)
    machine = machine_of(options)
    workloads = [
        *(Workload("inference", n) for n in parse_numbers("--batch", options["batch"])),
        *(Workload("training", n) for n in parse_numbers("--train-batch", options["train_batch"])),
    ]
    return [
        Plan(
            subjects={name: subject_of(name, task, width, options["preset"], machine) for name in names},
            width=width,
            preset=options["preset"],
            task=task,
            workloads=workloads,
            environment=describe(machine["device"], machine["threads"], "float32", None),
            limit_s=options["time_limit"],
            half_width=options["interval"] / 100,
        )
        for task in map(task_of, parse_names("dataset", options["datasets"], with_classes, with_classes))
        for width in parse_widths(options["widths"])
    ]


def scaling_and_report(out: Path, report: Path, options: Mapping[str, Any]) -> None:
    """Measure over lengths, write the record, print the table and write the report's files."""
    from bench.analyze.scaling import measure_scaling
    from bench.measure.exclusive import measuring
    from bench.results.scaling import write_scaling
    from bench.results.store import require_writable

    plan = _scaling_plan(options)
    require_writable(out)
    with measuring(plan.environment.device):
        write_scaling(out, measure_scaling(plan, say))
    show_scaling(out, report)


def _scaling_plan(options: Mapping[str, Any]) -> Any:
    from bench.analyze.scaling import ScalingPlan
    from bench.run.environment import describe

    with_classes = datasets.names(all_only=True)
    (dataset,) = parse_names("dataset", options["dataset"], with_classes, with_classes[:1])
    machine, task = machine_of(options), task_of(dataset)
    names = measured_names(options["models"])
    return ScalingPlan(
        subjects={name: subject_of(name, task, "script", "paper", machine) for name in names},
        dataset=dataset,
        lengths=parse_numbers("--lengths", options["lengths"]),
        batch=options["batch"],
        limit_s=options["time_limit"],
        environment=describe(machine["device"], machine["threads"], "float32", None),
    )


def say(line: str) -> None:
    """Print a line of progress."""
    click.echo(line, err=True)


def show(out: Path, folder: Path) -> None:
    """Print the tables of a results folder's efficiency records, write them and the figures."""
    from bench.reports.efficiency import efficiency_report

    report = efficiency_report(out)
    for error in report.damaged:
        click.echo(f"left out: {error}", err=True)
    _print_and_write(report.tables, report.figures, folder)


def show_scaling(out: Path, folder: Path) -> None:
    """Print the tables of a results folder's scaling records, write them and the figures."""
    from bench.reports.scaling import scaling_report

    _print_and_write(*scaling_report(out), folder)


def _print_and_write(tables: Sequence[Any], figures: Sequence[Any], folder: Path) -> None:
    from bench.reports.efficiency import write_report
    from bench.reports.formats import to_console

    for table in tables:
        click.echo(to_console(table))
    click.echo("files:")
    for path in write_report(tables, figures, folder):
        click.echo(f"  {path}")
