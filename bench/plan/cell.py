"""A cell of the grid and its key: one model on one dataset with one seed under one recipe."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from bench.datasets.contract import Split
from bench.models import registry as models
from bench.results.record import DataDescription
from bench.settings import CellSettings
from bench.train.revision import REVISION as TRAINER_REVISION


@dataclass(frozen=True, kw_only=True)
class CellData:
    """The data of a cell: who is in which part, and what its record says of it."""

    split: Split
    description: DataDescription


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell whose data is prepared, so that its key is known."""

    settings: CellSettings
    data: CellData

    @property
    def key(self) -> str:
        """The hash of everything that can change the result, 64 hexadecimal digits."""
        return hashlib.sha256(canonical_json(self.key_parts()).encode()).hexdigest()

    @property
    def label(self) -> str:
        """How messages call the cell."""
        return f"{self.settings.model} / {self.settings.dataset} / seed {self.settings.seed}"

    @property
    def revisions(self) -> dict[Literal["model", "trainer"], int | str]:
        """The revisions of the code that computes the result."""
        return {"model": models.revision(self.settings.model), "trainer": TRAINER_REVISION}

    def key_parts(self) -> dict[str, Any]:
        """Return everything that the key is made of.

        A micro-batch is left out where it does not change the arithmetic; how a split came about is left out
        because its three lists say it all.
        """
        settings = self.settings
        training = settings.training.model_dump()
        entry = models.entry(settings.model)
        if not entry.batch_statistics:
            del training["micro_batch_size"]
        return {
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


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, so that equal values hash alike."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
