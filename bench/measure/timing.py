"""The timings of a plan: one process per model, all of them alive, each visited in its turn."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial

from bench.measure.machine import read_machine
from bench.measure.plan import Findings, Plan, Say
from bench.measure.process import ModelProcess, ProcessError
from bench.measure.rounds import FellOutError, Precision, Visit, take_turns
from bench.measure.workload import Workload

ANCHOR = "medmamba"
"""In every turn until the end, since all ratios are to it."""

RUN_LIMIT_S = 300.0
"""A run that has not ended by then is given up."""


def time_in_turns(plan: Plan, findings: Mapping[str, Findings], say: Say) -> list[int]:
    """Take the timings of all workloads that fit, quick ones first, and add them to the findings.

    Returns
    -------
    list of int
        The GPU's clock in MHz after every visit; empty where unknown.
    """
    clocks_mhz: list[int] = []
    left_s = plan.limit_s * len(plan.subjects)
    workloads = sorted(plan.workloads, key=lambda one: _seconds_of_a_turn(one, findings))
    with ExitStack() as stack:
        processes = _start(plan, findings, stack)
        for n_done, workload in enumerate(workloads):
            share_s = left_s / (len(workloads) - n_done)
            visits: dict[str, Visit] = {
                name: partial(_visit, process, findings[name].probes[workload].workload, plan, clocks_mhz)
                for name, process in processes.items()
                if workload in findings[name].probes
            }
            say(f"{workload}: {len(visits)} models in turns, at most {share_s:.0f} s")
            started = time.monotonic()
            precision = Precision(half_width=plan.half_width, limit_s=share_s)
            for name, measured in take_turns(visits, precision, anchor=ANCHOR).items():
                findings[name].measured[workload] = measured
            left_s = max(0.0, left_s - (time.monotonic() - started))
    return clocks_mhz


def _seconds_of_a_turn(workload: Workload, findings: Mapping[str, Findings]) -> float:
    return sum(sum(one.probes[workload].seconds) for one in findings.values() if workload in one.probes)


def _start(plan: Plan, findings: Mapping[str, Findings], stack: ExitStack) -> dict[str, ModelProcess]:
    """Start the processes of the models that have something to run."""
    processes: dict[str, ModelProcess] = {}
    for name, found in findings.items():
        if not found.probes:
            continue
        try:
            processes[name] = stack.enter_context(ModelProcess(plan.subjects[name]))
        except ProcessError as trouble:
            found.troubles.update(dict.fromkeys(found.probes, str(trouble)))
    return processes


def _visit(process: ModelProcess, workload: Workload, plan: Plan, clocks_mhz: list[int]) -> list[float]:
    try:
        visited = process.visit(workload, plan.round_s, RUN_LIMIT_S)
    except ProcessError as trouble:
        raise FellOutError(str(trouble)) from trouble
    clock = read_machine(plan.environment.device).gpu_clock_mhz
    if clock is not None:
        clocks_mhz.append(clock)
    return list(visited.seconds)
