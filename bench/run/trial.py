"""A short trial of a cell in a fresh process: a few steps and evaluations, timed; nothing is kept."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.measure.memory import limit_memory, peak_bytes, reset_peak
from bench.measure.parameters import count_parameters
from bench.plan.cost import Trial
from bench.run import checkpoint
from bench.run.computing import set_threads
from bench.run.job import Job
from bench.run.planned_inputs import Parts, build_model, fitting_windows, load_data
from bench.run.trial_steps import TrialSteps, first_windows, timed
from bench.train.evaluate import predict
from bench.train.scores import score
from bench.train.seeding import seed_default_generators

EVALUATED = 256


def measure(job: Job, started: float, budget_s: float) -> Trial:
    """Measure what a cell costs, with the memory that its worker would have.

    Parameters
    ----------
    job
        The cell.
    started
        System time at which the parent started this process.
    budget_s
        Seconds for the steps, see `TrialSteps.grow`.
    """
    start_s = time.time() - started
    set_threads(job.threads)
    if job.device == "cpu" and job.memory_bytes is not None:
        limit_memory(job.memory_bytes)
    settings = job.cell.settings
    clock = time.perf_counter()
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    train, validation = fitting_windows(parts, settings)
    loaded = time.perf_counter()
    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    built = time.perf_counter()
    before = peak_bytes(job.device)
    # Loading may take more than the first steps, which would hide how these grow.
    reset_peak(job.device)

    steps = TrialSteps(job, model, train, validation)
    first_s = steps.epoch_s(steps.smallest)
    train_window_s = steps.grow(budget_s)
    evaluated = first_windows(parts.test, EVALUATED)
    evaluate = timed(
        lambda: predict(model, evaluated, settings.protocol.batch_size, settings.seed), job.device
    )
    evaluate()
    eval_window_s = tuple(evaluate() / len(evaluated) for _ in range(2))
    return Trial(
        start_s=start_s,
        load_s=loaded - clock,
        build_s=built - loaded,
        first_step_s=max(0.0, first_s - steps.smallest * train_window_s[-1]),
        train_window_s=train_window_s,
        eval_window_s=eval_window_s,
        score_s=_score_s(parts, dataset.facts.class_names),
        checkpoint_s=_checkpoint_s(job, steps),
        memory_before_bytes=before,
        memory_by_step=tuple(steps.peaks.items()),
        memory_bytes=max(before, peak_bytes(job.device)),
    )


def _checkpoint_s(job: Job, steps: TrialSteps) -> float:
    """Return the seconds that a checkpoint takes."""
    fit = steps.fit(steps.smallest)
    fit.run_epoch()
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = replace(job, out=Path(folder))
        return timed(lambda: checkpoint.save(elsewhere, fit), job.device)()


def _score_s(parts: Parts, class_names: tuple[str, ...]) -> float:
    """Return the seconds of scoring validation and test, of numbers drawn at random."""
    draw = np.random.default_rng(0)
    clock = time.perf_counter()
    for part in (parts.validation, parts.test):
        logits = draw.normal(size=(len(part), len(class_names)))
        score(logits, part.part_labels, part.part_subjects, class_names)
    return time.perf_counter() - clock
