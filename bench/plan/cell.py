"""A cell of the grid and its key: one model on one dataset with one seed under one recipe."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from bench.datasets.contract import Split
from bench.estimators import registry as estimators
from bench.estimators.identity import REVISION as ESTIMATORS_REVISION
from bench.estimators.identity import Identity
from bench.models import registry as models
from bench.results.record import CellName, DataDescription
from bench.settings import CellSettings
from bench.train.revision import REVISION as TRAINER_REVISION

CONTROL_REVISION = 2
"""Raised when what a control changes is changed, so that its cells are others: 2 shuffles validation labels, too."""

Revisions = dict[Literal["model", "trainer", "packages"], int | str]


@dataclass(frozen=True, kw_only=True)
class CellData:
    """The data of a cell: the subjects of each part, and the description for its record."""

    split: Split
    description: DataDescription


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell whose data is prepared, so that its key is known.

    ``revisions`` are those of the code when the cell was planned: a user's file may be edited while cells are trained.
    ``identity`` is the class of an estimator with its parameters; None of a network.
    """

    settings: CellSettings
    data: CellData
    revisions: Revisions
    identity: Identity | None = None

    @classmethod
    def of(cls, settings: CellSettings, data: CellData) -> "Cell":
        """Return the cell with the current revisions of the code."""
        identity = identity_of(settings)
        revisions = current_revisions(settings.model, identity)
        return cls(settings=settings, data=data, revisions=revisions, identity=identity)

    @property
    def key(self) -> str:
        """The hash of everything that can change the result, 64 hexadecimal digits."""
        return hashlib.sha256(canonical_json(self.key_parts()).encode()).hexdigest()

    @property
    def label(self) -> str:
        """The cell's name in messages."""
        settings = self.settings
        which = (
            f"seed {settings.seed}" if settings.candidate is None else f"configuration {settings.candidate}"
        )
        control = "" if settings.control is None else f" / {settings.control}"
        return f"{settings.model} / {settings.dataset} / {which}{control}"

    def key_parts(self) -> dict[str, Any]:
        """Return everything that enters the key.

        A micro-batch enters it for every model, since dropout draws anew in each forward pass; a micro-batch that is no
        smaller than the batch counts as none. The split enters by its three lists of subjects, not by its origin.
        A training that tries a configuration, or is a control, is another cell than the one that is tested. An
        estimator enters by its class, its parameters and its packages; it has no training section.
        """
        settings = self.settings
        trying = {} if settings.candidate is None else {"tries_configuration": True}
        control = (
            {}
            if settings.control is None
            else {"control": settings.control, "control_revision": CONTROL_REVISION}
        )
        return {
            **trying,
            **control,
            **self._model_parts(),
            "trainer_revision": self.revisions["trainer"],
            "data": {
                "dataset": settings.dataset,
                "fingerprint": self.data.description.fingerprint,
                "normalisation": self.data.description.normalisation,
                "split": {
                    "train": sorted(self.data.split.train),
                    "validation": sorted(self.data.split.validation),
                    "test": sorted(self.data.split.test),
                },
            },
            "seed": settings.seed,
        }

    def _model_parts(self) -> dict[str, Any]:
        settings = self.settings
        model = {"name": settings.model, "revision": self.revisions["model"]}
        if self.identity is not None:
            estimator = {"class": self.identity.class_path, "packages": self.identity.packages}
            fitted = {
                "parameters": self.identity.parameters,
                **settings.training.model_dump(exclude_none=True),
            }
            return {"model": model | estimator | fitted}
        training = settings.training.model_dump()
        if (training["micro_batch_size"] or 0) >= training["batch_size"]:
            training["micro_batch_size"] = None
        return {"model": model | {"hyperparameters": settings.hyperparameters}, "training": training}


def identity_of(settings: CellSettings) -> Identity | None:
    """Return the identity of a cell's estimator, None of a network."""
    if not settings.is_estimator:
        return None
    return estimators.identity(settings.model, settings.hyperparameters)


def current_revisions(model: str, identity: Identity | None = None) -> Revisions:
    """Return the revisions of the code that computes a cell's result."""
    revision = models.revision(model)
    if identity is None:
        return {"model": revision, "trainer": TRAINER_REVISION}
    packages = ", ".join(f"{name} {version}" for name, version in identity.packages.items())
    return {"model": revision, "trainer": ESTIMATORS_REVISION, "packages": packages}


def cell_name(settings: CellSettings) -> CellName:
    """Return the name of a cell in its record."""
    return CellName(
        model=settings.model, dataset=settings.dataset, seed=settings.seed, recipe=settings.recipe
    )


def canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: sorted keys, no blanks, so that equal values have equal hashes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
