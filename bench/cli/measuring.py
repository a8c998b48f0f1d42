"""What ``bench efficiency`` and ``bench analyze scaling`` do between their options and their tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from bench import datasets
from bench.cli.options import default_data
from bench.errors import BenchError, UsageError, unknown_name
from bench.models import registry as models
from bench.plan.request import chosen_names
from bench.results.efficiency_record import Width
from bench.settings import preset

if TYPE_CHECKING:
    from bench.analyses.scaling.compute import ScalingPlan
    from bench.measure.measurement import Measurement, Place
    from bench.measure.plan import Plan
    from bench.measure.workload import Workload
    from bench.render.figure import Figure
    from bench.render.table import Table

ALSO_MEASURED = "medformer-latest"
ANCHOR = "medmamba"
WIDTHS: tuple[Width, ...] = ("script", "wide")
INTERVAL_PERCENT = 5.0
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
    return chosen_names("model", text, models, [*models.names(all_only=True), ALSO_MEASURED])


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


def parse_workloads(batch: str, train_batch: str) -> "list[Workload]":
    """Return what is run; there is no training where its batch is ``none``.

    Raises
    ------
    UsageError
        An entry is not a positive number.
    """
    from bench.measure.workload import Workload

    training = [] if train_batch == "none" else parse_numbers("--train-batch", train_batch)
    return [
        *(Workload("inference", n) for n in parse_numbers("--batch", batch)),
        *(Workload("training", n) for n in training),
    ]


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


def place_of(device: str, threads: int | None, memory_gib: float | None) -> "Place":
    """Return where is measured: the device, all cores if not said otherwise, the scan's backend and all versions.

    Raises
    ------
    UsageError
        There is no such device, or memory is to be bounded on a GPU.
    """
    from bench.machine import available_bytes, available_cores
    from bench.measure.measurement import Place
    from bench.run.environment import describe, resolve_device
    from bench.scan import choose_backend

    device = resolve_device(device)
    if device == "cuda" and memory_gib is not None:
        raise UsageError(f"--memory {memory_gib:g}: bounds processes on a CPU only; leave it out on a GPU")
    return Place(
        environment=describe(device, threads or available_cores(), "float32", choose_backend("auto", device)),
        memory_limit_bytes=int(memory_gib * GIB if memory_gib else available_bytes() * SPARED),
    )


def measurement_of(options: Mapping[str, Any], data: Path | None) -> "Measurement":
    """Return what the options of ``bench efficiency`` ask for.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    from bench.measure.measurement import Measurement

    datasets.register_imported(data or default_data())
    return Measurement(
        models=measured_names(options["models"]),
        datasets=chosen_names("dataset", options["datasets"], datasets),
        widths=parse_widths(options["widths"]),
        workloads=parse_workloads(options["batch"], options["train_batch"]),
        preset=options["preset"],
        place=place_of(options["device"], options["threads"], options["memory"]),
        limit_s=options["time_limit"],
        half_width=options["interval"] / 100,
    )


def measure_and_report(out: Path, report: Path, measurement: "Measurement") -> None:
    """Measure, write the records, print the tables and write the report's files."""
    measure_and_write(out, measurement.plans())
    show(out, report)


def measure_and_write(out: Path, plans: "Sequence[Plan]") -> None:
    """Measure and write the records."""
    from bench.measure.exclusive import measuring
    from bench.results.efficiency_record import write_efficiency
    from bench.results.store import require_writable

    require_writable(out)
    with measuring(plans[0].environment.device):
        from bench.measure.measure_models import measure

        for plan in plans:
            say(f"{plan.task.dataset}, width {plan.width}: {len(plan.subjects)} models")
            measure(plan, say, lambda record: write_efficiency(out, record))


def measure_missing(
    out: Path, names: Sequence[str], dataset: str, preset_name: str, *, device: str, threads: int | None
) -> None:
    """Measure the models that a results folder has no measurement of, at a preset's sizes, on this machine.

    MedMamba is measured with them, since ratios are of models that took turns. An error that is the user's to mend
    is said and does not end the run, whose cells are done.
    """
    try:
        plan = _missing(out, names, dataset, preset_name, place_of(device, threads, None))
        if plan is None:
            say("efficiency: measured already")
        else:
            measure_and_write(out, [plan])
    except BenchError as error:
        say(f"efficiency not measured: {error}; later: bench efficiency")


def _missing(
    out: Path, names: Sequence[str], dataset: str, preset_name: str, place: "Place"
) -> "Plan | None":
    """Return the plan of what is not among the records of a folder, None where all is."""
    from bench.measure.measure_models import key_of
    from bench.measure.measurement import Measurement
    from bench.results.efficiency_record import read_efficiency

    sizes = preset(preset_name).efficiency

    def plan_of(some: Sequence[str]) -> "Plan":
        (plan,) = Measurement(
            models=some,
            datasets=[dataset],
            widths=["script"],
            workloads=parse_workloads(sizes.batch, sizes.train_batch),
            preset=preset_name,
            place=place,
            limit_s=sizes.time_limit,
            half_width=INTERVAL_PERCENT / 100,
        ).plans()
        return plan

    asked, known = plan_of(names), {one.key for one in read_efficiency(out)[0]}
    missing = [name for name in names if key_of(asked, name, asked.workloads) not in known]
    return plan_of(list(dict.fromkeys([*missing, ANCHOR]))) if missing else None


def scaling_and_report(out: Path, report: Path, plan: "ScalingPlan") -> None:
    """Measure over lengths, write the record, print the table and write the report's files."""
    from bench.analyses.scaling.compute import measure_scaling
    from bench.analyses.scaling.record import write_scaling
    from bench.measure.exclusive import measuring
    from bench.results.store import require_writable

    require_writable(out)
    with measuring(plan.environment.device):
        measure_scaling(plan, say, lambda record: write_scaling(out, record))
    show_scaling(out, report)


def scaling_plan_of(options: Mapping[str, Any], data: Path | None) -> "ScalingPlan":
    """Return what the options of ``bench analyze scaling`` ask for.

    Raises
    ------
    UsageError
        A name is unknown or a value cannot be used; the message offers the nearest.
    """
    from bench.analyses.scaling.compute import ScalingPlan
    from bench.measure.measurement import subject_of, task_of

    datasets.register_imported(data or default_data())
    chosen = chosen_names("dataset", options["dataset"], datasets)
    if len(chosen) != 1:
        raise UsageError(f"--dataset {options['dataset']!r}: expected one dataset, got {', '.join(chosen)}")
    place = place_of(options["device"], options["threads"], options["memory"])
    task = task_of(chosen[0])
    return ScalingPlan(
        subjects={
            name: subject_of(name, task, "script", "paper", place)
            for name in measured_names(options["models"])
        },
        dataset=chosen[0],
        lengths=parse_numbers("--lengths", options["lengths"]),
        batch=options["batch"],
        limit_s=options["time_limit"],
        environment=place.environment,
    )


def say(line: str) -> None:
    """Print a line of progress."""
    click.echo(line, err=True)


def show(out: Path, folder: Path) -> None:
    """Print the tables of a results folder's efficiency records, write them and the figures."""
    from bench.analyses.efficiency.report import efficiency_report

    report = efficiency_report(out)
    for error in report.damaged:
        click.echo(f"left out: {error}", err=True)
    _print_and_write(report.tables, report.figures, folder)


def show_scaling(out: Path, folder: Path) -> None:
    """Print the tables of a results folder's scaling records, write them and the figures."""
    from bench.analyses.scaling.report import scaling_report

    _print_and_write(*scaling_report(out), folder)


def _print_and_write(tables: "Sequence[Table]", figures: "Sequence[Figure]", folder: Path) -> None:
    from bench.render.files import write_report
    from bench.render.formats import to_console

    for table in tables:
        click.echo(to_console(table))
    click.echo("files:")
    for path in write_report(tables, figures, folder):
        click.echo(f"  {path}")
