"""One run of a grid: check the data, plan, train what is not done."""

import signal
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from bench import datasets
from bench.datasets.manifest import Manifest
from bench.errors import UsageError
from bench.models import registry as models
from bench.plan.data import check_all
from bench.plan.grid import PlannedCell, Request, plan
from bench.plan.planned import cell_name, write_planned
from bench.plan.shard import Shard
from bench.results.store import CellFolder, require_writable
from bench.run.claim import is_held, sweep
from bench.run.data import prepare_all
from bench.run.display import Display, make_display
from bench.run.environment import resolve_device
from bench.run.gpus import visible_gpus
from bench.run.job import Job
from bench.run.pool import Event, Finished, run_jobs


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use and how it treats what goes wrong."""

    device: str = "auto"
    jobs: int = 1
    threads: int = 1
    deterministic: bool = False
    cell_timeout: float | None = None
    shard: Shard | None = None
    backend: Literal["local", "ray"] = "local"
    address: str | None = None
    skip_missing: bool = False
    allow_skipped: bool = False
    retry_failed: bool = False
    fail_fast: bool = False


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
    manifests, problems = check_all(request.datasets, data, skip_missing=resources.skip_missing)
    with _sigterm_interrupts():
        prepared = _prepare(manifests, data, resources, problems)
        cells = plan(request.only(list(prepared)), prepared, out)
        write_planned(out, cells)
        tidy_done(cells, out)
        if resources.shard is not None:
            cells = resources.shard.of(cells)
        chosen = to_train(cells, retry_failed=resources.retry_failed)
        jobs = make_jobs(chosen, data, out, resources)
        with make_display(len(jobs)) as display:
            outcomes = _train(jobs, resources, display)
    return Summary(Counter(_found(one) for one in cells if one not in chosen) + outcomes)


def to_train(cells: Sequence[PlannedCell], *, retry_failed: bool) -> list[PlannedCell]:
    """Return the cells without a record, and those whose record says they failed if asked."""
    return [one for one in cells if one.status == "to do" or (retry_failed and one.status == "failed")]


def tidy_done(cells: Sequence[PlannedCell], out: Path) -> None:
    """Remove what a process left that was killed between its record and its last breath."""
    for one in cells:
        if one.cell is not None and one.status == "done":
            folder = CellFolder.of(out, cell_name(one), one.cell.key)
            if not is_held(folder):
                folder.checkpoint.unlink(missing_ok=True)
                sweep(folder)


def make_jobs(cells: Sequence[PlannedCell], data: Path, out: Path, resources: Resources) -> list[Job]:
    """Return what workers are told of the cells whose data is prepared."""
    device = resolve_device(resources.device)
    return [
        Job(
            cell=one.cell,
            model=models.entry(one.settings.model),
            dataset=datasets.entry(one.settings.dataset),
            # A worker may have another current folder.
            data=data.resolve(),
            out=out.resolve(),
            device=device,
            threads=resources.threads,
            deterministic=resources.deterministic,
        )
        for one in cells
        if one.cell is not None
    ]


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


def _train(jobs: Sequence[Job], resources: Resources, display: Display) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    with closing(_events(jobs, resources)) as events:
        for event in events:
            display.event(event)
            if isinstance(event, Finished):
                outcomes[event.ended.outcome] += 1
                if resources.fail_fast and event.ended.outcome not in ("ok", "already-done"):
                    display.say("stopped at the first failure (--fail-fast)")
                    break
    return outcomes


def _events(jobs: Sequence[Job], resources: Resources) -> Generator[Event]:
    """Run the jobs where they are to be run."""
    if resources.backend == "ray":
        from bench.run.ray_backend import run_on_ray

        return run_on_ray(jobs, address=resources.address, timeout_s=resources.cell_timeout)
    gpus = visible_gpus(jobs[0].device) if jobs else ()
    return run_jobs(jobs, n_workers=resources.jobs, timeout_s=resources.cell_timeout, gpus=gpus)


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
