"""The cost of a grid before it is run: from records where there are some, else from one trial per kind of cell."""

import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from bench.measure.environment import describe, resolve_device
from bench.measure.exclusive import training
from bench.plan.cost import Cost, Place, Trial, cost_from_trial, costs_from_records, likeness
from bench.plan.grid import PlannedCell, to_train
from bench.processes import die_with_parent
from bench.results.store import read_all
from bench.run.fork_server import fork_server
from bench.run.gpus import least_used, visible_gpus
from bench.run.grid import Resources, make_jobs
from bench.run.job import Job

Say = Callable[[str], None]


@dataclass(frozen=True)
class Forecast:
    """The cells that a run would train, and by their likeness what each is expected to cost, or why that is unknown.

    ``trials`` are those that costs come from where there was no record.
    """

    cells: Sequence[PlannedCell]
    costs: Mapping[str, Cost]
    troubles: Mapping[str, str]
    trials: Mapping[str, Trial]

    def cost(self, planned: PlannedCell) -> Cost | None:
        """Return the cost of a cell, None where its trial failed."""
        return self.costs.get(likeness(planned))


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
        As for the run; as many trials at once as cells will be.
    budget_s
        For the steps of one trial.
    say
        Told of each trial.
    """
    chosen = to_train(cells, retry_failed=resources.retry_failed)
    if not chosen:
        return Forecast(chosen, {}, {}, {})
    first: dict[str, PlannedCell] = {}
    for one in chosen:
        first.setdefault(likeness(one), one)
    jobs = make_jobs(list(first.values()), data, out, resources, resolve_device(resources.device))
    place = Place(
        device=jobs[0].device,
        device_name=describe(jobs[0].device, 1, "float32", None).device_name,
        threads=resources.threads,
    )
    records, _ = read_all(out)
    costs = {name: cost for name, cost in costs_from_records(records, place).items() if name in first}
    unknown = [(name, job) for name, job in zip(first, jobs, strict=True) if name not in costs]
    troubles, trials = dict[str, str](), dict[str, Trial]()
    for position, found in run_trials([job for _, job in unknown], resources.jobs, budget_s):
        name, job = unknown[position]
        if isinstance(found, Trial):
            trials[name], costs[name] = found, cost_from_trial(first[name], found)
            say(f"tried {job.cell.settings.model} on {job.cell.settings.dataset}")
        else:
            troubles[name] = found
            say(f"trial of {job.cell.settings.model} on {job.cell.settings.dataset} failed: {found}")
    return Forecast(chosen, costs, troubles, trials)


def run_trials(jobs: Sequence[Job], n_workers: int, budget_s: float) -> Iterator[tuple[int, Trial | str]]:
    """Try jobs in fresh processes, some at once; yield each one's position and its trial, or why there is none."""
    if not jobs:
        return
    context = fork_server()
    # The first process waits for the fork server's imports, which no cell will.
    warm = context.Process(target=_nothing)
    warm.start()
    warm.join()
    waiting = list(reversed(list(enumerate(jobs))))
    running: dict[Connection, tuple[int, BaseProcess, str | None]] = {}
    gpus = visible_gpus(jobs[0].device)
    with training(jobs[0].device):
        try:
            while waiting or running:
                while waiting and len(running) < n_workers:
                    position, job = waiting.pop()
                    job = job.on_gpu(least_used(gpus, [gpu for _, _, gpu in running.values()]))
                    ours, theirs = context.Pipe(duplex=False)
                    process = context.Process(
                        target=_main, args=(job, time.time(), budget_s, theirs), daemon=True
                    )
                    process.start()
                    theirs.close()
                    running[ours] = (position, process, job.gpu)
                for ready in wait(list(running)):
                    assert isinstance(ready, Connection)
                    position, process, _ = running.pop(ready)
                    yield position, _answer(ready, process)
        finally:
            for _, process, _ in running.values():
                process.kill()


def _nothing() -> None:
    """Run in a process that is only there to have been started."""


def _answer(connection: Connection, process: BaseProcess) -> Trial | str:
    try:
        return connection.recv()
    except EOFError:
        process.join()
        return f"its process died (exit code {process.exitcode}), perhaps for lack of memory"
    finally:
        connection.close()
        process.join()


def _main(job: Job, started: float, budget_s: float, answer: Connection) -> None:
    from bench import datasets
    from bench.models import registry as models
    from bench.run.trial import measure

    # Ctrl-C goes to the whole terminal's group; the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if job.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = job.gpu
    models.register(job.model)
    datasets.register(job.dataset)
    try:
        answer.send(measure(job, started, budget_s))
    except Exception as error:
        # The plan of the other cells is still worth having; the parent says which one has none.
        traceback.print_exc()
        answer.send(f"{type(error).__name__}: {error}")
