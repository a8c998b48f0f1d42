"""A cell of the grid and its key: one model on one dataset with one seed under one recipe."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from bench.datasets.contract import Split
from bench.models import registry as models
from bench.results.record import CellName, DataDescription
from bench.settings import CellSettings
from bench.train.revision import REVISION as TRAINER_REVISION

Revisions = dict[Literal["model", "trainer"], int | str]


@dataclass(frozen=True, kw_only=True)
class CellData:
    """The data of a cell: the subjects of each part, and the description for its record."""

    split: Split
    description: DataDescription


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell whose data is prepared, so that its key is known.

    ``revisions`` are those of the code when the cell was planned: a user's file may be edited while cells are trained.
    """

    settings: CellSettings
    data: CellData
    revisions: Revisions

    @classmethod
    def of(cls, settings: CellSettings, data: CellData) -> "Cell":
        """Return the cell with the current revisions of the code."""
        return cls(settings=settings, data=data, revisions=current_revisions(settings.model))

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
        return f"{settings.model} / {settings.dataset} / {which}"

    def key_parts(self) -> dict[str, Any]:
        """Return everything that enters the key.

        A micro-batch enters it for every model, since dropout draws anew in each forward pass; a micro-batch that is no
        smaller than the batch counts as none. The split enters by its three lists of subjects, not by its origin.
        A training that tries a configuration is another cell than the one that is tested.
        """
        settings = self.settings
        training = settings.training.model_dump()
        if (training["micro_batch_size"] or 0) >= training["batch_size"]:
            training["micro_batch_size"] = None
        trying = {} if settings.candidate is None else {"tries_configuration": True}
        return trying | {
            "model": {
                "name": settings.model,
                "revision": self.revisions["model"],
                "hyperparameters": settings.hyperparameters,
            },
            "training": training,
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


def current_revisions(model: str) -> Revisions:
    """Return the revisions of the code that computes a cell's result."""
    return {"model": models.revision(model), "trainer": TRAINER_REVISION}


def cell_name(settings: CellSettings) -> CellName:
    """Return the name of a cell in its record."""
    return CellName(
        model=settings.model, dataset=settings.dataset, seed=settings.seed, recipe=settings.recipe
    )


def canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: sorted keys, no blanks, so that equal values have equal hashes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
