"""The cost of a grid before it is run: from records if there are any, else from one trial per kind of cell."""

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from bench.machine import available_bytes
from bench.measure.environment import describe, resolve_device
from bench.measure.exclusive import training
from bench.plan.cost import Cost, Place, Trial, cost_from_trial, costs_from_records, same_but_seed
from bench.plan.grid import PlannedCell, to_train
from bench.plan.patience import stopping_from_records
from bench.processes import Child, stop, wait_for_end, wait_for_news
from bench.results.store import TUNING, read_all
from bench.run.cells.compiling import compile_kernels, kernels_of
from bench.run.job import Job, make_jobs
from bench.run.resources import Resources, least_used, visible_gpus
from bench.run.worker import SHARE_OF_MEMORY

Say = Callable[[str], None]


@dataclass(frozen=True)
class Forecast:
    """The cells that a run would train and, by `same_but_seed`, their expected cost or why it is unknown.

    ``trials`` are the trials run for cells without records; ``device`` is what cells compute on, ``cpu`` or ``cuda``.
    """

    cells: Sequence[PlannedCell]
    costs: Mapping[str, Cost]
    troubles: Mapping[str, str]
    trials: Mapping[str, Trial]
    device: str

    def cost(self, planned: PlannedCell) -> Cost | None:
        """Return the cost of a cell, None where its trial failed."""
        return self.costs.get(same_but_seed(planned))


def forecast(
    cells: Sequence[PlannedCell], data: Path, out: Path, resources: Resources, *, budget_s: float, say: Say
) -> Forecast:
    """Predict the cost of the cells that are not done.

    Parameters
    ----------
    cells
        The whole plan, its data prepared.
    data, out
        Folder of the datasets; results folder, whose records are used.
    resources
        As for the run; as many trials run at once as cells would.
    budget_s
        Seconds for the steps of one trial.
    say
        Called with a line for each trial.
    """
    chosen = to_train(cells, retry_failed=resources.retry_failed)
    device = resolve_device(resources.device)
    if not chosen:
        return Forecast(chosen, {}, {}, {}, device)
    first: dict[str, PlannedCell] = {}
    for planned in chosen:
        first.setdefault(same_but_seed(planned), planned)
    jobs = make_jobs(list(first.values()), data, out, resources, device)
    place = Place(
        device=jobs[0].device,
        device_name=describe(jobs[0].device, 1, "float32", None).device_name,
        threads=resources.threads,
    )
    records = [*read_all(out)[0], *read_all(out / TUNING)[0]]
    costs = {name: cost for name, cost in costs_from_records(records, place).items() if name in first}
    unknown = [(name, job) for name, job in zip(first, jobs, strict=True) if name not in costs]
    troubles, trials = dict[str, str](), dict[str, Trial]()
    for name, job in unknown:
        if job.cell.settings.is_estimator:
            troubles[name] = "unknown until one such cell is done: an estimator has no steps to try"
    unknown = [(name, job) for name, job in unknown if name not in troubles]
    for position, found in run_trials([job for _, job in unknown], resources.jobs, budget_s):
        name, job = unknown[position]
        if isinstance(found, Trial):
            trials[name] = found
            costs[name] = cost_from_trial(first[name], found, stopping_from_records(first[name], records))
            say(f"tried {job.cell.settings.model} on {job.cell.settings.dataset}")
        else:
            troubles[name] = found
            say(f"trial of {job.cell.settings.model} on {job.cell.settings.dataset} failed: {found}")
    return Forecast(chosen, costs, troubles, trials, device)


def run_trials(jobs: Sequence[Job], n_workers: int, budget_s: float) -> Iterator[tuple[int, Trial | str]]:
    """Try jobs in fresh processes, several at once; yield each job's position and its trial, or why there is none."""
    if not jobs:
        return
    # As in a run, so that a trial meets the limit that its cell would.
    share = int(SHARE_OF_MEMORY * available_bytes() / n_workers)
    # The first process waits for the fork server's imports, too, which would distort a measurement.
    kernels = kernels_of([job.cell.settings.model for job in jobs], jobs[0].device)
    compiling = Child(compile_kernels, sorted(kernels))
    wait_for_end(compiling)
    compiling.end()
    waiting = deque(enumerate(jobs))
    running: dict[int, tuple[Child, str | None]] = {}
    gpus = visible_gpus(jobs[0].device)
    with training(jobs[0].device):
        try:
            while waiting or running:
                while waiting and len(running) < n_workers:
                    position, job = waiting.popleft()
                    job = job.on_gpu(least_used(gpus, [gpu for _, gpu in running.values()]))
                    job = job if job.memory_bytes is not None else replace(job, memory_bytes=share)
                    running[position] = Child(_main, job, time.time(), budget_s), job.gpu
                wait_for_news([child for child, _ in running.values()])
                for position, (child, _) in list(running.items()):
                    if (found := _answer(child)) is not None:
                        del running[position]
                        yield position, found
        finally:
            stop([child for child, _ in running.values()])


def _answer(child: Child) -> Trial | str | None:
    """Return a process's result, or how it died without one; None while it runs."""
    alive = child.process.is_alive()
    found = next(child.received(), None)
    if found is None and alive:
        return None
    child.end()
    return found or f"its process died ({child.death}), perhaps for lack of memory"


def _main(job: Job, started: float, budget_s: float, answer: Connection) -> None:
    from bench.run.trial import measure

    job.introduce()
    try:
        answer.send(measure(job, started, budget_s))
    except (Exception, SystemExit) as error:
        # A failed trial must not stop the others; the parent reports which cell has none.
        traceback.print_exc()
        answer.send(f"{type(error).__name__}: {error}")
