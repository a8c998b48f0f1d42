"""One run of a grid: check the data, plan, train what is not done."""

import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Protocol

from bench import datasets
from bench.datasets.cache.manifest import Manifest
from bench.datasets.cache.prepare import refuse_damage
from bench.errors import UsageError
from bench.files import remove_abandoned
from bench.machine import available_bytes
from bench.measure.environment import resolve_device
from bench.plan.cell import cell_name
from bench.plan.data import check_all
from bench.plan.grid import PlannedCell, Request, plan, to_train
from bench.plan.planned import PlannedName, read_planned, write_planned
from bench.processes import fork_server
from bench.results.store import CellFolder, require_writable
from bench.results.twins import take_over
from bench.run.cell_lock import is_locked, sweep
from bench.run.display import Display, make_display
from bench.run.job import Job, make_jobs
from bench.run.pool import Event, Finished, run_jobs
from bench.run.ray_backend import SHARED_MARK, connected
from bench.run.resources import Resources, visible_gpus
from bench.run.worker import SHARE_OF_MEMORY


@dataclass(frozen=True)
class Summary:
    """How a run ended: numbers of cells by outcome, those found done included as ``already-done``."""

    outcomes: Mapping[str, int]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return sum(self.outcomes.values())

    @property
    def n_bad(self) -> int:
        """Number of cells without scores."""
        return sum(n for outcome, n in self.outcomes.items() if outcome not in ("ok", "already-done"))

    def __str__(self) -> str:
        """Return the line that a run ends with."""
        trained, done = self.outcomes.get("ok", 0), self.outcomes.get("already-done", 0)
        bad = ", ".join(
            f"{n} {outcome}" for outcome, n in self.outcomes.items() if outcome not in ("ok", "already-done")
        )
        return f"{trained} trained, {done} already done{', ' + bad if bad else ''}"


def execute(request: Request, data: Path, out: Path, resources: Resources) -> Summary:
    """Prepare the data, train the cells that are not done, and say how it went.

    Parameters
    ----------
    request
        The cells asked for.
    data
        Folder with one sub-folder per dataset; only read.
    out
        Results folder.
    resources
        What the run may use.

    Raises
    ------
    UsageError
        The resources do not fit each other, or are not there.
    DataError
        A dataset is missing or unusable; nothing has been trained.
    BenchError
        The results folder cannot be written.
    """
    if resources.address is not None and resources.backend != "ray":
        raise UsageError(f"--address {resources.address}: only --backend ray has one")
    require_writable(out)
    sweep_old(out)
    manifests, problems = check_all(request.datasets, data, skip_missing=resources.skip_missing)
    with _sigterm_interrupts(), _backend(resources) as backend:
        prepared = _prepare(manifests, data, resources, problems)
        cells = plan(request.only(list(prepared)), prepared, out)
        write_planned(out, cells, beside=_planned_by_others(out))
        take_over_twins(cells, out)
        tidy_done(cells, out)
        if resources.shard is not None:
            cells = resources.shard.of(cells)
        chosen = to_train(cells, retry_failed=resources.retry_failed)
        jobs = make_jobs(chosen, data, out, resources, backend.device)
        with make_display(len(jobs)) as display:
            outcomes = _train(backend.run(jobs), display, fail_fast=resources.fail_fast)
    return Summary(Counter(_found(planned) for planned in cells if planned not in chosen) + outcomes)


def take_over_twins(cells: Sequence[PlannedCell], out: Path) -> None:
    """Write a record for each cell that another recipe has trained under the same key."""
    for planned in cells:
        record, settings = planned.record, planned.settings
        if planned.status == "done" and record is not None and record.cell.recipe != settings.recipe:
            take_over(out, record, cell_name(settings), settings.model_dump(mode="json"))


def tidy_done(cells: Sequence[PlannedCell], out: Path) -> None:
    """Remove the checkpoint of a process killed after writing its record."""
    for planned in cells:
        if planned.cell is not None and planned.status == "done":
            folder = CellFolder.of(out, cell_name(planned.settings), planned.cell.key)
            if not is_locked(folder):
                folder.checkpoint.unlink(missing_ok=True)
                sweep(folder)


def sweep_old(out: Path) -> None:
    """Remove files left at the top of the results folder by killed runs; live runs renew theirs."""
    for pattern in (".*.tmp", f"{SHARED_MARK}*"):
        remove_abandoned(out, pattern)


def _planned_by_others(out: Path) -> list[PlannedName]:
    """Return the cells of the last run if one of them is being trained, since that run is still going on."""
    names = read_planned(out)
    alive = any(is_locked(CellFolder.of(out, name.cell, name.key)) for name in names)
    return names if alive else []


def prepare_all(
    manifests: Mapping[str, Manifest | None],
    root: Path,
    *,
    jobs: int,
    allow_skipped: bool,
    on_record: Callable[[str, int, int], None],
) -> dict[str, Manifest]:
    """Cut the windows of every dataset not prepared yet; ``on_record`` gets dataset, records done, records in all.

    Raises
    ------
    DataError
        Too many records of a dataset are damaged.
    """
    prepared: dict[str, Manifest] = {}
    for name, manifest in manifests.items():
        if manifest is None:
            prepared[name] = datasets.prepare(
                name,
                root,
                jobs=jobs,
                allow_skipped=allow_skipped,
                progress=lambda done, total, name=name: on_record(name, done, total),
            )
        else:
            refuse_damage(manifest, allow_skipped=allow_skipped)
            prepared[name] = manifest
    return prepared


def _found(cell: PlannedCell) -> str:
    return "already-done" if cell.status == "done" else "failed before"


def _prepare(
    manifests: dict[str, Manifest | None], data: Path, resources: Resources, problems: Sequence[str]
) -> dict[str, Manifest]:
    with make_display(0) as display:
        for problem in problems:
            display.say(f"skipped: {problem}")
        return prepare_all(
            manifests,
            data,
            jobs=resources.jobs,
            allow_skipped=resources.allow_skipped,
            on_record=display.record,
        )


def _train(events: Generator[Event], display: Display, *, fail_fast: bool) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    with closing(events):
        for event in events:
            display.event(event)
            if isinstance(event, Finished):
                outcomes[event.ended.outcome] += 1
                if fail_fast and event.ended.outcome not in ("ok", "already-done"):
                    display.say("stopped at the first failure (--fail-fast)")
                    break
    return outcomes


class Backend(Protocol):
    """Where the jobs of a run are run."""

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda``."""
        ...

    def run(self, jobs: Sequence[Job]) -> Generator[Event]:
        """Run jobs and yield what happens; stop when the caller stops listening."""
        ...


@dataclass(frozen=True)
class _Here:
    """Workers of this machine."""

    resources: Resources
    device: str

    def run(self, jobs: Sequence[Job]) -> Generator[Event]:
        resources = self.resources
        # Without a limit, the system would kill a cell that takes too much memory, or another one, without a message.
        share = int(SHARE_OF_MEMORY * available_bytes() / resources.jobs)
        return run_jobs(
            [job if job.memory_bytes is not None else replace(job, memory_bytes=share) for job in jobs],
            n_workers=resources.jobs,
            timeout_s=resources.cell_timeout,
            gpus=visible_gpus(self.device),
        )


@contextmanager
def _backend(resources: Resources) -> Iterator[Backend]:
    """Provide the backend of the jobs, ready before anything else is started."""
    if resources.backend == "ray":
        with connected(resources) as cluster:
            yield cluster
    else:
        device = resolve_device(resources.device)
        fork_server()
        yield _Here(resources, device)


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that the workers are stopped before this process goes."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
