"""Progress of a run: one live line on a terminal, plain lines elsewhere; always on standard error."""

import sys
import time
from typing import Protocol, Self

from bench.run.job import Job
from bench.run.pool import Event, Finished, Progress, Started


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


class _Count:
    """How many cells are done of how many, and how long the rest will take at the pace so far."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells, self.n_done, self.started = n_cells, 0, time.monotonic()

    def finished(self, event: Finished) -> str:
        self.n_done += 1
        ended = event.ended
        score = f"test F1 {100 * ended.test_f1:.2f}" if ended.test_f1 is not None else ""
        score = f"validation F1 {100 * ended.val_f1:.2f}" if ended.val_f1 is not None else score
        result = "; ".join(filter(None, (score, ended.message)))
        left = f", {self.time_left()} left" if 0 < self.n_done < self.n_cells else ""
        return (
            f"[{self.n_done}/{self.n_cells}] {event.job.cell.label}: {ended.outcome} {result}{left}".rstrip()
        )

    def time_left(self) -> str:
        seconds = (time.monotonic() - self.started) / max(1, self.n_done) * (self.n_cells - self.n_done)
        minutes, seconds = divmod(int(seconds), 60)
        return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {seconds} s"


class PlainDisplay:
    """Lines for logs: a tenth of a preparation, and every cell's end."""

    def __init__(self, n_cells: int) -> None:
        self.count = _Count(n_cells)
        self.tenths: dict[str, int] = {}

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
        """Print a line when a cell ends."""
        if isinstance(event, Finished):
            self.say(self.count.finished(event))


class LiveDisplay:
    """A bar of all cells and a line for each that is being trained."""

    def __init__(self, n_cells: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self.count = _Count(n_cells)
        self.bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
        )
        self.cells = self.bars.add_task("cells", total=n_cells, note="", visible=n_cells > 0)
        self.tasks: dict[str, int] = {}

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
        self._move(f"preparing {dataset}", done, total, "")
        if done == total:
            self._drop(f"preparing {dataset}")

    def event(self, event: Event) -> None:
        """Move the bar of a cell."""
        label, epochs = event.job.cell.label, self._epochs(event.job)
        if isinstance(event, Started):
            self._move(label, 0, epochs, "")
        elif isinstance(event, Progress):
            self._move(label, event.epoch.epoch, epochs, f"validation F1 {100 * event.epoch.val_f1:.2f}")
        else:
            self._drop(label)
            self.say(self.count.finished(event))
            note = f"{self.count.time_left()} left"
            self.bars.update(self.cells, completed=self.count.n_done, note=note)  # pyright: ignore[reportArgumentType]

    def _epochs(self, job: Job) -> int:
        """Return the epochs of a network; the fit of an estimator counts as a single step."""
        settings = job.cell.settings
        return 1 if settings.is_estimator else settings.protocol.epochs

    def _move(self, label: str, done: int, total: int, note: str) -> None:
        from rich.progress import TaskID

        if label not in self.tasks:
            self.tasks[label] = self.bars.add_task(label, total=total, note=note)
        self.bars.update(TaskID(self.tasks[label]), completed=done, note=note)

    def _drop(self, label: str) -> None:
        from rich.progress import TaskID

        if label in self.tasks:
            self.bars.remove_task(TaskID(self.tasks.pop(label)))


def make_display(n_cells: int) -> Display:
    """Return the display for where standard error goes."""
    return LiveDisplay(n_cells) if sys.stderr.isatty() else PlainDisplay(n_cells)
