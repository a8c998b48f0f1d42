"""The timings of a plan: one process per model, all of them alive, each visited in its turn."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bench.measure.plan import Findings, Plan, Say
from bench.measure.probe import largest_that_fits
from bench.measure.process import DoesNotFitError, ModelProcess, ProcessError
from bench.measure.rounds import FellOutError, Precision, Visit, take_turns
from bench.measure.watch import Watch
from bench.measure.workload import Subject, Workload

ANCHOR = "medmamba"
"""Measured in every turn until the end, since all ratios are relative to it."""

LEAST_S = 0.25
"""Least seconds of a turn, also if no model can be run."""

RUN_LIMIT_S = 300.0
"""Seconds after which a run is given up."""


def time_in_turns(plan: Plan, findings: Mapping[str, Findings], watch: Watch, say: Say) -> Iterator[Workload]:
    """Take the timings of all workloads that fit, quick ones first, and add them to the findings.

    Yields each workload when its timings are taken; ``watch`` looks at the machine after every visit.
    """
    left_s = plan.limit_s * len(plan.subjects)
    costs = {workload: _seconds_of_a_turn(workload, findings, plan.round_s) for workload in plan.workloads}
    workloads = sorted(costs, key=costs.__getitem__)
    with ExitStack() as stack:
        turns = {
            name: _Turn(subject, findings[name], plan.round_s, say) for name, subject in plan.subjects.items()
        }
        for turn in turns.values():
            stack.callback(turn.close)
        for n_done, workload in enumerate(workloads):
            # Shared by the square root of a turn's cost: slow workloads get more time, quick ones still enough.
            weights = [math.sqrt(costs[left]) for left in workloads[n_done:]]
            share_s = left_s * weights[0] / sum(weights)
            visits: dict[str, Visit] = {
                name: partial(_visit, turn, workload, watch)
                for name, turn in turns.items()
                if turn.is_ready(workload)
            }
            say(f"{workload}: {len(visits)} models in turns, at most {share_s:.0f} s")
            started = time.monotonic()
            precision = Precision(half_width=plan.half_width, limit_s=share_s)
            for name, measured in take_turns(visits, precision, anchor=ANCHOR).items():
                findings[name].measured[workload] = measured
            left_s = max(0.0, left_s - (time.monotonic() - started))
            yield workload


def _seconds_of_a_turn(workload: Workload, findings: Mapping[str, Findings], round_s: float) -> float:
    """Return the seconds of visiting all models once: each fills a round, with at least one run."""
    probes = [found.probes[workload] for found in findings.values() if workload in found.probes]
    return max(LEAST_S, sum(max(round_s, sum(probe.seconds)) for probe in probes))


def _visit(turn: "_Turn", workload: Workload, watch: Watch) -> list[float]:
    try:
        return turn.visit(workload)
    except ProcessError as trouble:
        raise FellOutError(str(trouble)) from trouble
    finally:
        watch.look()


class _Turn:
    """One model in all turns. After a workload at which its process had to be given up it gets a new one."""

    def __init__(self, subject: Subject, found: Findings, round_s: float, say: Say) -> None:
        self.subject, self.found, self.round_s, self.say = subject, found, round_s, say
        self.process: ModelProcess | None = None
        self.n_visits = 0
        self._stack = ExitStack()

    def is_ready(self, workload: Workload) -> bool:
        """Ensure a process for a workload that could be run before; return whether there is one."""
        self.n_visits = 0
        if workload not in self.found.probes:
            return False
        try:
            self._running()
        except ProcessError as trouble:
            self.found.troubles[workload] = str(trouble)
            return False
        return True

    def visit(self, workload: Workload) -> list[float]:
        """Return the seconds of a round.

        A batch that fits alone and not beside the other processes, which share a GPU's memory, is halved; but never
        between rounds, which are of one batch.
        """
        fits = self.found.probes[workload].workload
        try:
            seconds = list(self._running().visit(fits, self.round_s, RUN_LIMIT_S).seconds)
        except DoesNotFitError:
            if self.n_visits or fits.batch == 1:
                raise
            smaller = replace(fits, batch=fits.batch // 2)
            self.say(f"{self.subject.model}: {fits} does not fit in memory beside the others")
            self.found.probes[workload] = largest_that_fits(self.subject, smaller, limit_s=RUN_LIMIT_S)
            return self.visit(workload)
        self.n_visits += 1
        return seconds

    def close(self) -> None:
        """End the process, if there is one."""
        self._stack.close()

    def _running(self) -> ModelProcess:
        if self.process is None or self.process.given_up:
            self.process = None
            self.process = self._stack.enter_context(ModelProcess(self.subject))
        return self.process
