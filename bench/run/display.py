"""Progress of a run: one live line on a terminal, plain lines elsewhere; always on standard error."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from bench.run.job import Job
from bench.run.pool import Event, Finished, Progress, Started

LINE_S = 60.0
Clock = Callable[[], float]


class Display(Protocol):
    """The display of a run's progress; a context manager."""

    def say(self, line: str) -> None:
        """Print a line that stays."""

    def record(self, dataset: str, done: int, total: int) -> None:
        """Show the progress of preparing a dataset."""

    def event(self, event: Event) -> None:
        """Show what happened to a cell."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(self, *error: object) -> None:
        """End, whatever the reason."""


class Work:
    """The work of a run, counted in windows, and how long the rest will take at the pace so far.

    An epoch passes the windows of training and validation; the fit of an estimator counts as a single epoch. Epochs
    that a cell brings from its checkpoint are done, but say nothing of the pace.

    Parameters
    ----------
    jobs
        The cells to be trained now.
    clock
        Gives the time in seconds.
    n_windows_later
        Windows of the cells that the run trains after these.
    """

    def __init__(
        self, jobs: Sequence[Job], clock: Clock = time.monotonic, n_windows_later: float = 0.0
    ) -> None:
        self.clock, self.began = clock, clock()
        self.n_windows_later = n_windows_later
        self.left = {job.cell.key: n_windows_of(job) for job in jobs}
        self.n_cells, self.n_done, self.n_windows = len(jobs), 0, 0.0
        self.under_way: set[str] = set()

    def follow(self, event: Event) -> None:
        """Count what an event tells."""
        key, whole = event.job.cell.key, n_windows_of(event.job)
        if not self.under_way and not self.n_done:
            # The pace is that of training: a worker's first seconds are imports.
            self.began = self.clock()
        if isinstance(event, Started):
            self.under_way.discard(key)
        elif isinstance(event, Progress):
            left = whole * max(0.0, 1 - event.position.epochs / _epochs(event.job))
            if key in self.under_way:
                self.n_windows += max(0.0, self.left[key] - left)
            self.under_way.add(key)
            self.left[key] = left
        else:
            self.n_done += 1
            if event.job.cell.settings.is_estimator and event.ended.outcome == "ok":
                self.n_windows += whole
            self.left[key] = 0.0

    def time_left(self) -> str:
        """Return how long the rest will take in words; empty without work done, or without any left."""
        left = sum(self.left.values()) + self.n_windows_later
        if not (left and self.n_windows):
            return ""
        minutes, seconds = divmod(int((self.clock() - self.began) / self.n_windows * left), 60)
        if minutes >= 60:
            return f"about {minutes // 60} h {minutes % 60} min left"
        return f"about {minutes} min {seconds} s left" if minutes else f"about {seconds} s left"


def _epochs(job: Job) -> int:
    settings = job.cell.settings
    return 1 if settings.is_estimator else settings.protocol.epochs


def n_windows_of(job: Job) -> float:
    """Return how many windows a cell passes through its model until it is trained, if it does not stop early."""
    data = job.cell.data.description
    return float(_epochs(job) * (data.n_train_windows_used + data.parts["validation"].n_windows))


def _percent(score: float | None) -> str:
    return "" if score is None else f"validation F1 {100 * score:.2f} %"


def _ending(event: Finished, work: Work) -> str:
    """Return the line of a cell that has ended."""
    ended = event.ended
    score = f"test F1 {100 * ended.test_f1:.2f} %" if ended.test_f1 is not None else _percent(ended.val_f1)
    result = "; ".join(filter(None, (score, ended.message)))
    line = f"[{work.n_done}/{work.n_cells}] {event.job.cell.label}: {ended.outcome} {result}".rstrip()
    return ", ".join(filter(None, (line, work.time_left())))


class PlainDisplay:
    """Lines for logs: a tenth of a preparation, a minute of a training, and every cell's end."""

    def __init__(self, work: Work) -> None:
        self.clock, self.work = work.clock, work
        self.tenths: dict[str, int] = {}
        self.said: dict[str, float] = {}

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """End."""

    def say(self, line: str) -> None:
        """Print a line."""
        print(line, file=sys.stderr, flush=True)

    def record(self, dataset: str, done: int, total: int) -> None:
        """Print a line for each tenth."""
        tenth = 10 * done // total
        if tenth > self.tenths.get(dataset, 0):
            self.tenths[dataset] = tenth
            self.say(f"preparing {dataset}: {done} of {total} records")

    def event(self, event: Event) -> None:
        """Print a line when a cell ends, when it goes on from a checkpoint, and once a minute."""
        self.work.follow(event)
        if isinstance(event, Finished):
            self.say(_ending(event, self.work))
        elif isinstance(event, Started):
            self.said.pop(event.job.cell.key, None)
        else:
            self._progress(event)

    def _progress(self, event: Progress) -> None:
        key, now, position = event.job.cell.key, self.clock(), event.position
        if key not in self.said:
            self.said[key] = now
            if position.epochs >= 1:
                last, epochs = f"{position.epochs:.0f}", _epochs(event.job)
                self.say(f"{event.job.cell.label}: continues after epoch {last} of {epochs}")
        elif now - self.said[key] >= LINE_S:
            self.said[key] = now
            parts = (_amount(event), _percent(position.val_f1), self.work.time_left())
            self.say(f"{event.job.cell.label}: {', '.join(filter(None, parts))}")


def _amount(event: Progress) -> str:
    """Return how far a training is, in epochs."""
    return f"{event.position.epochs:.1f} of {_epochs(event.job)} epochs"


class LiveDisplay:
    """A bar of all cells and a line for each that is being trained; both vanish at the end."""

    def __init__(self, work: Work) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self.work = work
        self.bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[amount]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self.tasks: dict[str, int] = {}
        if work.n_cells:
            self._move("cells", 0, work.n_cells, f"0 of {work.n_cells} cells")

    def __enter__(self) -> Self:
        """Begin."""
        self.bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End and leave the terminal as it was."""
        self.bars.stop()

    def say(self, line: str) -> None:
        """Print a line above the bars."""
        self.bars.console.print(line, markup=False, highlight=False)

    def record(self, dataset: str, done: int, total: int) -> None:
        """Move the bar of a dataset that is being prepared."""
        self._move(f"preparing {dataset}", done, total, f"{done} of {total} records")
        if done == total:
            self._drop(f"preparing {dataset}")

    def event(self, event: Event) -> None:
        """Move the bar of a cell, and that of all cells."""
        self.work.follow(event)
        label, epochs = event.job.cell.label, _epochs(event.job)
        if isinstance(event, Started):
            self._move(label, 0, epochs, "starting")
        elif isinstance(event, Progress):
            self._move(label, event.position.epochs, epochs, _amount(event), _percent(event.position.val_f1))
        else:
            self._drop(label)
            self.say(_ending(event, self.work))
        done, total = self.work.n_done, self.work.n_cells
        self._move("cells", done, total, f"{done} of {total} cells", self.work.time_left())

    def _move(self, label: str, done: float, total: int, amount: str, note: str = "") -> None:
        from rich.progress import TaskID

        if label not in self.tasks:
            self.tasks[label] = self.bars.add_task(label, total=total, amount=amount, note=note)
        self.bars.update(TaskID(self.tasks[label]), completed=done, amount=amount, note=note)

    def _drop(self, label: str) -> None:
        from rich.progress import TaskID

        if label in self.tasks:
            self.bars.remove_task(TaskID(self.tasks.pop(label)))


def make_display(work: Work | None = None) -> Display:
    """Return the display of some work, or of none but preparation, for where standard error goes."""
    display = LiveDisplay if sys.stderr.isatty() else PlainDisplay
    return display(work or Work(()))
