"""The end of a cell: scores of its parts, its files, and its record unless another process has written one."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from bench.datasets.contract import Dataset
from bench.files import atomic_file, sha256_of
from bench.measure.memory import peak_bytes
from bench.results.record import Environment, Metrics, Record, Scores, Timing
from bench.results.store import write_record
from bench.run.ended import earlier_record
from bench.run.failure import identity_of
from bench.run.job import Job
from bench.train.evaluate import predict
from bench.train.part import Part
from bench.train.scores import score

Logits = NDArray[np.float32]


class CellClock:
    """The start of a cell and the seconds of its three steps: loading, training, testing; `lap` ends a step."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.laps = [time.perf_counter()]

    def lap(self) -> None:
        """End a step."""
        self.laps.append(time.perf_counter())

    def timing(self) -> Timing:
        """Return the durations of the three steps, and of the whole cell up to now."""
        load_s, train_s, test_s = np.diff(self.laps).tolist()
        total_s = time.perf_counter() - self.laps[0]
        return Timing(started=self.started, load_s=load_s, train_s=train_s, test_s=test_s, total_s=total_s)


@dataclass(frozen=True)
class Tested:
    """Scores of the validation and the test part, and the logits ``(n, n_classes)`` of the latter's windows."""

    metrics: Metrics
    dataset: Dataset
    test: Part
    logits: Logits


def tested(model: nn.Module, part: Part, job: Job, dataset: Dataset) -> tuple[Scores, Logits]:
    """Return scores and logits of a network on one part."""
    settings = job.cell.settings
    logits = predict(model, part, settings.protocol.batch_size, settings.seed)
    return scored(logits, part, dataset), logits


def scored(logits: Logits, part: Part, dataset: Dataset) -> Scores:
    """Return the scores of the logits of one part."""
    return score(logits, part.part_labels, part.part_subjects, dataset.facts.class_names)


def finish(
    job: Job,
    result: Tested,
    environment: Environment,
    clock: CellClock,
    write_state: Callable[[], tuple[Path, ...]],
    **of_kind: Any,
) -> tuple[Record, str]:
    """Write a cell's files and its record; return the record that it has now, and a remark on it.

    Parameters
    ----------
    job, result, environment, clock
        The cell, how it was tested, where, and its times.
    write_state
        Writes what was fitted and returns the files; not called where another process has finished the cell.
    **of_kind
        Further fields of the record, which only one kind of model has.
    """
    kept, note = earlier_record(job, result.metrics, environment)
    if kept is None:
        _write_predictions(job, result)
        files = (job.folder.predictions, *write_state())
        kept = Record(
            **(identity_of(job) | of_kind),
            outcome="ok",
            metrics=result.metrics,
            timing=clock.timing(),
            peak_memory_bytes=peak_bytes(job.device),
            environment=environment,
            files={path.name: sha256_of(path) for path in files},
        )
        write_record(job.folder, kept)
    return kept, note


def _write_predictions(job: Job, result: Tested) -> None:
    """Write logits, label, subject, source record and position of every test window."""
    test = result.test
    with atomic_file(job.folder.predictions) as path, path.open("wb") as file:
        np.savez_compressed(
            file,
            logits=result.logits,
            label=test.part_labels,
            subject=test.part_subjects,
            record=result.dataset.record[test.rows],
            window=test.rows,
        )
