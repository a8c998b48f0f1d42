"""A short trial of a cell in a fresh process: a few steps and evaluations, timed; nothing is kept."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from bench.measure.memory import peak_bytes
from bench.measure.parameters import count_parameters
from bench.plan.cost import Trial
from bench.run import checkpoint
from bench.run.computing import set_threads
from bench.run.job import Job
from bench.run.planned_inputs import Parts, build_model, drawn_train, load_data
from bench.train.evaluate import predict
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.scores import score
from bench.train.seeding import seed_default_generators

SMALLEST_STEP, GROWTH = 8, 4
REPEATS = 3
EVALUATED = 256


def measure(job: Job, started: float, budget_s: float) -> Trial:
    """Measure what a cell costs.

    The step grows until it has the recipe's windows or the next would exceed the budget; MedMamba and its rivals are
    linear in their number.

    Parameters
    ----------
    job
        The cell.
    started
        System time at which the parent started this process.
    budget_s
        Seconds for the steps.
    """
    start_s = time.time() - started
    set_threads(job.threads)
    settings = job.cell.settings
    clock = time.perf_counter()
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    train = drawn_train(parts.train, settings)
    loaded = time.perf_counter()
    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    built = time.perf_counter()
    before = peak_bytes(job.device)

    steps = _Steps(job, model, train, parts.validation)
    first_s = steps.time_one(SMALLEST_STEP)
    n_windows, train_window_s = steps.grow(budget_s)
    evaluated = _first(parts.test, EVALUATED)
    evaluate = _timed(
        lambda: predict(model, evaluated, settings.protocol.batch_size, settings.seed), job.device
    )
    evaluate()
    eval_window_s = tuple(evaluate() / len(evaluated) for _ in range(2))
    return Trial(
        start_s=start_s,
        load_s=loaded - clock,
        build_s=built - loaded,
        first_step_s=max(0.0, first_s - SMALLEST_STEP * train_window_s[-1]),
        train_window_s=train_window_s,
        eval_window_s=eval_window_s,
        score_s=_score_s(parts, dataset.facts.class_names),
        checkpoint_s=steps.checkpoint_s(),
        n_windows=n_windows,
        memory_before_bytes=before,
        memory_bytes=peak_bytes(job.device),
    )


class _Steps:
    """Training steps of growing size, through the trainer itself; validation has one window."""

    def __init__(self, job: Job, model: torch.nn.Module, train: Part, validation: Part) -> None:
        self.job, self.model, self.train = job, model, train
        self.validation = _first(validation, 1)
        self.largest = min(job.cell.settings.protocol.batch_size, len(train))

    def time_one(self, n_windows: int) -> float:
        """Return the seconds of an epoch that is one step of so many windows."""
        return _timed(self._fit(n_windows).run_epoch, self.job.device)()

    def grow(self, budget_s: float) -> tuple[int, tuple[float, ...]]:
        """Return the windows of the largest step within the budget, and the seconds of each repeat of it."""
        deadline = time.perf_counter() + budget_s
        n_windows = min(SMALLEST_STEP, self.largest)
        while True:
            seconds = [self.time_one(n_windows) for _ in range(REPEATS)]
            following = min(n_windows * GROWTH, self.largest)
            needed = min(seconds) * following / n_windows * REPEATS
            if following == n_windows or time.perf_counter() + needed > deadline:
                return n_windows, tuple(step_s / n_windows for step_s in seconds)
            n_windows = following

    def checkpoint_s(self) -> float:
        """Return the seconds that a checkpoint takes."""
        fit = self._fit(SMALLEST_STEP)
        fit.run_epoch()
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = replace(self.job, out=Path(folder))
            return _timed(lambda: checkpoint.save(elsewhere, fit), self.job.device)()

    def _fit(self, n_windows: int) -> Fit:
        training = self.job.cell.settings.protocol
        return Fit(
            self.model, _first(self.train, n_windows), self.validation, training, self.job.cell.settings.seed
        )


def _first(part: Part, n_windows: int) -> Part:
    return replace(part, rows=part.rows[:n_windows])


def _timed(run: Callable[[], object], device: str) -> Callable[[], float]:
    """Return a function that runs another to the end of its work on the device and gives the seconds."""

    def timed() -> float:
        clock = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - clock

    return timed


def _score_s(parts: Parts, class_names: tuple[str, ...]) -> float:
    """Return the seconds of scoring validation and test, of numbers drawn at random."""
    draw = np.random.default_rng(0)
    clock = time.perf_counter()
    for part in (parts.validation, parts.test):
        logits = draw.normal(size=(len(part), len(class_names)))
        score(logits, part.part_labels, part.part_subjects, class_names)
    return time.perf_counter() - clock
