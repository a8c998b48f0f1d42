"""Scores of a cell's model on one part of its data."""

import numpy as np
from numpy.typing import NDArray
from torch import nn

from bench.datasets.contract import Dataset
from bench.results.record import Scores
from bench.run.job import Job
from bench.train.evaluate import predict
from bench.train.part import Part
from bench.train.scores import score


def tested(model: nn.Module, part: Part, job: Job, dataset: Dataset) -> tuple[Scores, NDArray[np.float32]]:
    """Return scores and logits of a model on one part."""
    settings = job.cell.settings
    logits = predict(model, part, settings.protocol.batch_size, settings.seed)
    return score(logits, part.part_labels, part.part_subjects, dataset.facts.class_names), logits
