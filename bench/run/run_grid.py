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
from bench.plan.data import check_all
from bench.plan.grid import PlannedCell, Request, plan, to_train
from bench.plan.planned import write_planned
from bench.plan.splits import keep_splits
from bench.results.store import require_writable
from bench.run.backend import backend_for
from bench.run.display import Display, make_display
from bench.run.job import make_jobs
from bench.run.leftovers import planned_by_others, sweep_old, take_over_twins, tidy_done
from bench.run.pool import Event, Finished
from bench.run.resources import Resources


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
    with _sigterm_interrupts(), backend_for(resources) as backend:
        prepared = _prepare(manifests, data, resources, problems)
        cells = plan(request.only(list(prepared)), prepared, out)
        write_planned(out, cells, beside=planned_by_others(out))
        keep_splits(out, cells)
        take_over_twins(cells, out)
        tidy_done(cells, out)
        if resources.shard is not None:
            cells = resources.shard.of(cells)
        chosen = to_train(cells, retry_failed=resources.retry_failed)
        jobs = make_jobs(chosen, data, out, resources, backend.device)
        with make_display(len(jobs)) as display:
            outcomes = _train(backend.run(jobs), display, fail_fast=resources.fail_fast)
    return Summary(Counter(_found(planned) for planned in cells if planned not in chosen) + outcomes)


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
