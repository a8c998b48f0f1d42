"""Measures what models cost, never while cells train; the measuring itself is in `bench.measure`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench import datasets
from bench.analyses import store
from bench.analyses.context import Context
from bench.analyses.contract import Say
from bench.analyses.efficiency.record import ANALYSIS, INTERVAL_PERCENT, Options
from bench.errors import BenchError
from bench.measure.exclusive import measuring
from bench.measure.measure_models import key_of, measure
from bench.measure.measurement import (
    Measurement,
    Place,
    measured_names,
    parse_widths,
    parse_workloads,
    place_of,
)
from bench.measure.plan import Plan
from bench.paper.names import OURS
from bench.plan.request import chosen_names
from bench.results.efficiency_record import EfficiencyRecord
from bench.results.store import require_writable
from bench.settings import preset


def run(context: Context, options: Options) -> None:
    """Measure parameters, operations, throughput, latency and memory."""
    datasets.register_imported(context.data or context.default_data)
    measurement = Measurement(
        models=measured_names(options.models),
        datasets=chosen_names("dataset", options.datasets, datasets),
        widths=parse_widths(options.widths),
        workloads=parse_workloads(options.batch, options.train_batch),
        preset=options.preset,
        place=place_of(options.device, options.threads, options.memory),
        limit_s=options.time_limit,
        half_width=options.interval / 100,
    )
    measure_all(measurement.plans(), context.say, context.write)


def measure_all(plans: Sequence[Plan], say: Say, keep: Callable[[EfficiencyRecord], object]) -> None:
    """Measure plan by plan while holding the device's lock; every record is passed to ``keep``."""
    with measuring(plans[0].environment.device):
        for plan in plans:
            say(f"{plan.task.dataset}, width {plan.width}: {len(plan.subjects)} models")
            measure(plan, say, keep)


def measure_missing(
    out: Path, names: Sequence[str], dataset: str, preset_name: str, *, place: Place, say: Say
) -> None:
    """Measure the models that a results folder has no measurement for, at a preset's sizes.

    MedMamba is measured with them, since ratios need models that took turns. A user's error
    is reported and does not fail the run, whose cells are done.
    """
    try:
        plan = _missing(out, names, dataset, preset_name, place)
        if plan is None:
            say("efficiency: measured already")
            return
        require_writable(out)
        measure_all([plan], say, lambda record: store.write(out, ANALYSIS, record))
    except BenchError as error:
        say(f"efficiency not measured: {error}; later: bench efficiency")


def _missing(out: Path, names: Sequence[str], dataset: str, preset_name: str, place: Place) -> Plan | None:
    """Return the plan without models that the folder has records of; None if nothing is left to measure."""
    sizes = preset(preset_name).efficiency

    def plan_of(chosen: Sequence[str]) -> Plan:
        (plan,) = Measurement(
            models=chosen,
            datasets=[dataset],
            widths=["script"],
            workloads=parse_workloads(sizes.batch, sizes.train_batch),
            preset=preset_name,
            place=place,
            limit_s=sizes.time_limit,
            half_width=INTERVAL_PERCENT / 100,
        ).plans()
        return plan

    asked = plan_of(names)
    known = {record.key for record in store.read(out, ANALYSIS)[0]}
    missing = [name for name in names if key_of(asked, name, asked.workloads) not in known]
    return plan_of(list(dict.fromkeys([*missing, OURS]))) if missing else None
