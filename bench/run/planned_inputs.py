"""What a cell is trained on: its data as planned, cut into parts, and its model; changed data or code are refused."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from bench import datasets, models
from bench.datasets.contract import Dataset, DatasetFacts, Split
from bench.errors import DataError, ModelError
from bench.models.source import path_of
from bench.plan.cell import current_revisions
from bench.run.job import Job
from bench.settings import CellSettings
from bench.train.part import Part
from bench.train.seeding import derived_seed


@dataclass(frozen=True)
class FittingParts:
    """The two parts of a dataset that training gets."""

    train: Part
    validation: Part

    @classmethod
    def of(cls, dataset: Dataset, split: Split) -> "FittingParts":
        """Cut a dataset along a split, without its test part."""
        return cls(_part(dataset, split.train), _part(dataset, split.validation))


@dataclass(frozen=True)
class Parts(FittingParts):
    """The three parts of a dataset, apart."""

    test: Part

    @classmethod
    def of(cls, dataset: Dataset, split: Split) -> "Parts":
        """Cut a dataset along a split."""
        fitting = FittingParts.of(dataset, split)
        return cls(fitting.train, fitting.validation, _part(dataset, split.test))


def _part(dataset: Dataset, subjects: tuple[str, ...]) -> Part:
    return Part(dataset.windows, dataset.labels, dataset.subject, dataset.indices(subjects))


def load_data(job: Job) -> Dataset:
    """Return the windows that the cell's key tells of.

    Raises
    ------
    DataError
        The files have changed since the cell was planned, or differ on this machine.
    """
    settings, planned = job.cell.settings, job.cell.data
    dataset = datasets.load(settings.dataset, job.data, planned.description.normalisation, planned.split)
    if dataset.fingerprint != planned.description.fingerprint:
        raise DataError(
            f"{job.data / settings.dataset}: its windows have fingerprint {dataset.fingerprint[:12]} and had "
            f"{planned.description.fingerprint[:12]} when the cell was planned; run the same command again: cells with "
            "changed data have another key"
        )
    return dataset


def build_model(job: Job, dataset: Dataset) -> nn.Module:
    """Build the cell's model for the dataset's shape.

    Raises
    ------
    ModelError
        The file of a user's own model has changed since the cell was planned, or the model does not give a logit for
        each class.
    """
    facts, settings = dataset.facts, job.cell.settings
    model = models.build(
        settings.model,
        facts.n_channels,
        facts.n_times,
        facts.n_classes,
        **settings.hyperparameters,
        **settings.execution,
    )
    if current_revisions(settings.model) != job.cell.revisions:
        raise ModelError(
            f"{settings.model}: {path_of(job.model)} has changed since the cell was planned; run the same command "
            "again: cells with changed code have another key"
        )
    if job.model.group == "own":
        _require_logits(settings.model, model, facts)
    return model


def _require_logits(name: str, model: nn.Module, facts: DatasetFacts) -> None:
    """Refuse a user's model whose loss could be computed and whose classes would be others than the data's."""
    # The package's own models have their battery; a forward pass would move the generators that they draw from.
    was_training = model.training
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        logits = model.eval()(torch.zeros(2, facts.n_times, facts.n_channels))
    model.train(was_training)
    found, expected = tuple(getattr(logits, "shape", ())), (2, facts.n_classes)
    if found != expected:
        raise ModelError(
            f"{name}: two windows give an output of shape {found}, expected logits {expected}, one for each class of "
            f"{facts.name}; fix the model, see 'bench check-model'"
        )


def fitting_windows(parts: FittingParts, settings: CellSettings) -> tuple[Part, Part]:
    """Return the windows that a cell is fitted to, all or a seeded draw, and those that its best epoch is chosen by.

    As a control with shuffled labels, those of both parts are permuted: what is learned then says nothing of the
    test part, and neither does the choice.
    """
    train, validation = parts.train, parts.validation
    at_most = settings.training.max_train_windows
    if at_most is not None:
        train = train.draw(at_most, _generator(settings, "training windows"))
    if settings.control == "shuffled-labels":
        train = train.with_shuffled_labels(_generator(settings, "shuffled labels"))
        validation = validation.with_shuffled_labels(_generator(settings, "shuffled validation labels"))
    return train, validation


def _generator(settings: CellSettings, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derived_seed(settings.seed, purpose))
