"""One run of a grid: check the data, plan, train what is not done."""

import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from bench import datasets
from bench.datasets.manifest import Manifest
from bench.models import registry as models
from bench.plan.data import check_all
from bench.plan.grid import Request, plan
from bench.results.store import require_writable
from bench.run.data import prepare_all
from bench.run.display import Display, make_display
from bench.run.environment import resolve_device
from bench.run.job import Job
from bench.run.pool import Finished, run_jobs


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use and how it treats what goes wrong."""

    device: str = "auto"
    jobs: int = 1
    threads: int = 1
    cell_timeout: float | None = None
    skip_missing: bool = False
    allow_skipped: bool = False
    retry_failed: bool = False
    fail_fast: bool = False


@dataclass(frozen=True)
class Summary:
    """How a run ended: numbers of cells by outcome, those found done included as ``already-done``."""

    outcomes: Mapping[str, int]

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
    DataError
        A dataset is missing or unusable; nothing has been trained.
    BenchError
        The results folder cannot be written.
    """
    require_writable(out)
    device = resolve_device(resources.device)
    manifests, problems = check_all(request.datasets, data, skip_missing=resources.skip_missing)
    with _sigterm_interrupts():
        prepared = _prepare(manifests, data, resources, problems)
        cells = plan(request.only(list(prepared)), prepared, out)
        chosen = [
            one
            for one in cells
            if one.status == "to do" or (resources.retry_failed and one.status == "failed")
        ]
        kept = Counter(
            "already-done" if one.status == "done" else "failed before" for one in cells if one not in chosen
        )
        jobs = [
            Job(
                cell=one.cell,
                model=models.entry(one.settings.model),
                dataset=datasets.entry(one.settings.dataset),
                data=data,
                out=out,
                device=device,
                threads=resources.threads,
            )
            for one in chosen
            if one.cell is not None
        ]
        with make_display(len(jobs)) as display:
            outcomes = _train(jobs, resources, display)
    return Summary(kept + outcomes)


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
    for event in run_jobs(jobs, n_workers=resources.jobs, timeout_s=resources.cell_timeout):
        display.event(event)
        if isinstance(event, Finished):
            outcomes[event.ended.outcome] += 1
            if resources.fail_fast and event.ended.outcome not in ("ok", "already-done"):
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
