"""The files beside a cell's record: predictions of the test windows, and the weights that were tested."""

import numpy as np
from safetensors.torch import save

from bench.datasets.contract import Dataset
from bench.files import atomic_file
from bench.run.job import Job
from bench.train.fit import Fit
from bench.train.part import Part


def write_predictions(job: Job, dataset: Dataset, test: Part, logits: np.ndarray) -> None:
    """Write logits, label, subject, source record and position of every test window."""
    with atomic_file(job.folder.predictions) as path, path.open("wb") as file:
        np.savez_compressed(
            file,
            logits=logits,
            label=test.part_labels,
            subject=test.part_subjects,
            record=dataset.record[test.rows],
            window=test.rows,
        )


def write_weights(job: Job, fit: Fit) -> None:
    """Write the weights that were tested."""
    weights = {name: value.contiguous().cpu() for name, value in fit.best_weights.items()}
    with atomic_file(job.folder.weights) as path:
        # safetensors' own writer hides the reason of a write error.
        path.write_bytes(save(weights))
