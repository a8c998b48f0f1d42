"""The training steps of a trial: larger and larger ones, up to the recipe's batch where time and memory allow."""

import time
from collections.abc import Callable
from dataclasses import replace

import torch

from bench.measure.memory import peak_bytes
from bench.run.job import Job
from bench.train.fit import Fit
from bench.train.part import Part

SMALLEST_STEP, GROWTH = 8, 4
# The last size is timed so often and so long, or until the budget is spent; an epoch of short steps has several.
FEWEST_TIMED, ENOUGH_S, SHORTEST_EPOCH_S = 3, 3.0, 0.5


class TrialSteps:
    """Steps of a cell through the trainer itself; validation has one window.

    Parameters
    ----------
    job, model
        The cell and its model, on its device.
    train, validation
        Parts of the cell's data.

    Attributes
    ----------
    smallest : int
        Windows of the smallest step.
    peaks : dict
        Windows of one forward pass -> largest memory of the process by the end of such steps, in bytes.
    """

    def __init__(self, job: Job, model: torch.nn.Module, train: Part, validation: Part) -> None:
        self.job, self.model, self.train = job, model, train
        self.validation = first_windows(validation, 1)
        self.largest = min(job.cell.settings.protocol.batch_size, len(train))
        self.smallest = min(SMALLEST_STEP, self.largest)
        self.peaks = dict[int, int]()
        self.held = peak_bytes(job.device)
        self.room = _room_bytes(job)

    def grow(self, budget_s: float) -> tuple[float, ...]:
        """Return the seconds a window, measured several times, of the largest steps that were possible.

        A larger step is tried if it would end within the budget and fit into memory, judged by the step before: time
        and memory grow at most in proportion to the windows. The first step of a size is timed only where the budget
        leaves no second one.
        """
        deadline = time.perf_counter() + budget_s
        n_windows = self.smallest
        step_s = self.epoch_s(n_windows)
        while n_windows < self.largest:
            following = min(n_windows * GROWTH, self.largest)
            needed_s = step_s * following / n_windows
            if time.perf_counter() + needed_s > deadline or not self._fits(following):
                break
            n_windows, step_s = following, self.epoch_s(following)
        n_steps = max(1, min(int(SHORTEST_EPOCH_S / step_s), len(self.train) // n_windows))
        taken, expected_s = list[float](), n_steps * step_s
        while len(taken) < FEWEST_TIMED or sum(taken) < ENOUGH_S:
            if time.perf_counter() + expected_s > deadline:
                break
            expected_s = self.epoch_s(n_windows, n_steps)
            taken.append(expected_s / n_steps)
        return tuple(seconds / n_windows for seconds in taken or [step_s])

    def epoch_s(self, n_windows: int, n_steps: int = 1) -> float:
        """Return the seconds of an epoch of so many steps of so many windows."""
        fit = self.fit(n_windows, n_steps)
        seconds = timed(fit.run_epoch, self.job.device)()
        self.peaks[self._at_once(n_windows)] = peak_bytes(self.job.device)
        return seconds

    def fit(self, n_windows: int, n_steps: int = 1) -> Fit:
        """Return a training whose epoch is so many steps of so many windows."""
        settings = self.job.cell.settings
        training = settings.protocol.model_copy(update={"batch_size": n_windows})
        train = first_windows(self.train, n_windows * n_steps)
        return Fit(self.model, train, self.validation, training, settings.seed)

    def _at_once(self, n_windows: int) -> int:
        """Return the windows of one forward pass in a step of so many."""
        return min(n_windows, self.job.cell.settings.protocol.micro_batch_size or n_windows)

    def _fits(self, n_windows: int) -> bool:
        """Tell whether a step of so many windows fits into memory, by the largest one so far."""
        largest, peak = max(self.peaks.items())
        taken = max(0, peak - self.held)
        return taken * self._at_once(n_windows) / largest < self.room


def first_windows(part: Part, n_windows: int) -> Part:
    """Return a part with the first windows of another."""
    return replace(part, rows=part.rows[:n_windows])


def timed(run: Callable[[], object], device: str) -> Callable[[], float]:
    """Return a function that runs another to the end of its work on the device and gives the seconds."""

    def seconds() -> float:
        clock = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - clock

    return seconds


def _room_bytes(job: Job) -> float:
    """Return the bytes that the steps may take beside what is held; without a limit all that is asked for."""
    if job.device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return float("inf") if job.memory_bytes is None else job.memory_bytes
