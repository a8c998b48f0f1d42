"""One run of a grid: check the data, plan, train what is not done."""

import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from bench import datasets
from bench.datasets.cache.manifest import Manifest
from bench.datasets.cache.prepare import refuse_damage
from bench.errors import UsageError
from bench.plan.data import check_all, check_splits
from bench.plan.grid import PlannedCell, Request, plan, to_train
from bench.results.store import require_writable
from bench.run.backend import Backend, backend_for
from bench.run.display import Display, Work, make_display, n_windows_of
from bench.run.job import Job, make_jobs
from bench.run.leftovers import sweep_old
from bench.run.pool import Event, Finished
from bench.run.resources import Resources
from bench.run.stock import take_stock


@dataclass(frozen=True)
class Summary:
    """How a run ended: numbers of cells by outcome, those found done included as ``already-done``, and their keys."""

    outcomes: Mapping[str, int]
    keys: frozenset[str] = frozenset()

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return sum(self.outcomes.values())

    @property
    def n_bad(self) -> int:
        """Number of cells without scores."""
        return sum(n for outcome, n in self.outcomes.items() if _is_bad(outcome))

    def __str__(self) -> str:
        """Return the line that a run ends with."""
        trained, done = self.outcomes.get("ok", 0), self.outcomes.get("already-done", 0)
        bad = ", ".join(f"{n} {outcome}" for outcome, n in self.outcomes.items() if _is_bad(outcome))
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
    with _sigterm_interrupts(), backend_for(resources, request.models) as backend:
        prepared = _prepare(request, manifests, data, resources, problems)
        run = _Run(request.only(list(prepared)), prepared, data, out, resources, backend)
        ended = run.train_planned()
        if run.is_waiting and not (resources.fail_fast and any(map(_is_bad, ended.values()))):
            # With the configurations that were tried just now.
            ended |= run.train_planned()
    return Summary(run.counted(ended), run.keys)


@dataclass
class _Run:
    """A run of a grid on a backend; ``cells`` is the last plan, of which ``chosen`` were to be trained."""

    request: Request
    manifests: Mapping[str, Manifest]
    data: Path
    out: Path
    resources: Resources
    backend: Backend
    cells: Sequence[PlannedCell] = ()
    chosen: Sequence[PlannedCell] = ()

    @property
    def is_waiting(self) -> bool:
        """Whether cells waited for configurations to be tried."""
        return any(planned.status == "needs tuning" for planned in self.cells)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the cells asked for."""
        return frozenset(planned.cell.key for planned in self.cells if planned.cell is not None)

    def train_planned(self) -> dict[str, str]:
        """Plan, and train what can be trained now; return the outcomes by key."""
        self.cells = plan(self.request, self.manifests, self.out)
        take_stock(self.cells, self.out)
        if self.resources.shard is not None:
            self.cells = self.resources.shard.of(self.cells)
        self.chosen = to_train(self.cells, retry_failed=self.resources.retry_failed)
        jobs = make_jobs(self.chosen, self.data, self.out, self.resources, self.backend.device)
        with make_display(Work(jobs, n_windows_later=self._n_windows_later(jobs))) as display:
            return _train(self.backend.run(jobs), display, fail_fast=self.resources.fail_fast)

    def _n_windows_later(self, jobs: Sequence[Job]) -> float:
        """Return the windows of the cells that wait for jobs of theirs: each passes as many as one of these."""
        n_windows = {(job.cell.settings.model, job.cell.settings.dataset): n_windows_of(job) for job in jobs}
        waiting = [planned.settings for planned in self.cells if planned.status == "needs tuning"]
        return sum(n_windows.get((settings.model, settings.dataset), 0.0) for settings in waiting)

    def counted(self, ended: Mapping[str, str]) -> Counter[str]:
        """Return the number of cells by outcome; those that were not reached are left out."""
        outcomes: Counter[str] = Counter()
        for planned in self.cells:
            key = "" if planned.cell is None else planned.cell.key
            if key in ended:
                outcomes[ended[key]] += 1
            elif planned not in self.chosen:
                outcomes[_found(planned)] += 1
        return outcomes


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
    words = {"done": "already-done", "needs tuning": "without a configuration yet"}
    return words.get(cell.status, "failed before")


def _prepare(
    request: Request,
    manifests: Mapping[str, Manifest | None],
    data: Path,
    resources: Resources,
    problems: Sequence[str],
) -> dict[str, Manifest]:
    with make_display() as display:
        for problem in problems:
            display.say(f"skipped: {problem}")
        prepared = prepare_all(
            manifests,
            data,
            jobs=resources.jobs,
            allow_skipped=resources.allow_skipped,
            on_record=display.record,
        )
        fit, problems = check_splits(prepared, request.data(), skip_missing=resources.skip_missing)
        for problem in problems:
            display.say(f"skipped: {problem}")
    return {name: prepared[name] for name in fit}


def _train(events: Generator[Event], display: Display, *, fail_fast: bool) -> dict[str, str]:
    """Train to the end, or to the first failure; return the outcome of each cell by its key."""
    ended: dict[str, str] = {}
    with closing(events):
        for event in events:
            display.event(event)
            if isinstance(event, Finished):
                ended[event.job.cell.key] = event.ended.outcome
                if fail_fast and _is_bad(event.ended.outcome):
                    display.say("stopped at the first failure (--fail-fast)")
                    break
    return ended


def _is_bad(outcome: str) -> bool:
    return outcome not in ("ok", "already-done")


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
