"""The record of how cost grows with the length of the window, and the exponents that follow from it."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field

from bench.analyses import contract
from bench.analyses.analysed_cells import AnalysedCells
from bench.results.field_types import Count, Name, Size
from bench.results.frozen_model import FrozenModel
from bench.results.record import Environment, Sha256

NAME = "scaling"
FIT_FROM = 512
"""Exponents are fitted on windows of at least this many steps; constant costs dominate in shorter windows."""

Quantity = Literal["operations", "seconds", "memory"]


class ScalingPoint(FrozenModel):
    """One model at one length, in inference.

    ``operations`` of one window; ``seconds`` of every run of a batch; ``memory_bytes`` beyond a process without a
    model. What could not be measured is None or empty, and ``message`` gives the reason, or remarks on the numbers.
    """

    n_times: Size
    operations: Count | None
    seconds: tuple[Annotated[float, Field(gt=0)], ...] = ()
    memory_bytes: int | None = None
    message: str = ""

    def value(self, quantity: Quantity) -> float | None:
        """Return one of the three costs; for ``seconds`` the median of the runs."""
        if quantity == "operations":
            return self.operations
        if quantity == "memory":
            return self.memory_bytes
        return float(np.median(self.seconds)) if self.seconds else None


class ScalingCurve(FrozenModel):
    """All lengths of one model, ascending."""

    model: Name
    revision: int | str
    hyperparameters: dict[str, Any]
    points: tuple[ScalingPoint, ...]


class ScalingRecord(FrozenModel):
    """Curves measured in one session. ``limit_s`` is the time limit of each model.

    ``environment`` names the backend that scans ran on.
    """

    schema_version: Literal[1] = Field(alias="schema")
    key: Sha256
    session: str
    dataset: Name
    n_channels: Size
    batch: Size
    limit_s: float
    environment: Environment
    curves: tuple[ScalingCurve, ...]
    warnings: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @property
    def stem(self) -> str:
        """Name of its file: of dataset, device and key."""
        return f"{self.dataset}-{self.environment.device}-{self.key[:12]}"

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """No trained cells."""
        return ()


@dataclass(frozen=True)
class Exponent:
    """The slope of log cost over log length, with its standard error."""

    value: float
    error: float
    n_points: int


def fit_exponent(curve: ScalingCurve, quantity: Quantity) -> Exponent | None:
    """Fit the exponent by least squares on lengths from `FIT_FROM`; None with fewer than three points."""
    known = [(point.n_times, point.value(quantity)) for point in curve.points if point.n_times >= FIT_FROM]
    pairs = [(math.log(length), math.log(value)) for length, value in known if value]
    return _slope(pairs) if len(pairs) >= 3 else None


def _slope(pairs: Sequence[tuple[float, float]]) -> Exponent:
    x, y = np.array(pairs).T
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - slope * centred
    variance = float(residuals @ residuals) / (len(x) - 2)
    return Exponent(slope, math.sqrt(variance / float(centred @ centred)), len(x))


def scaling_key(*, curves: Sequence[ScalingCurve], dataset: str, batch: int, environment: Environment) -> str:
    """Return the key: a hash over models, lengths, batch, the device and all versions."""
    models = [
        [curve.model, curve.revision, curve.hyperparameters, [point.n_times for point in curve.points]]
        for curve in curves
    ]
    content = {
        "models": sorted(models),
        "dataset": dataset,
        "batch": batch,
        "environment": environment.model_dump(),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Options(contract.Options):
    """What ``bench analyze scaling`` asks for."""

    models: str = Field(default="all", description="A comma list of names, or all.")
    datasets: str = Field(
        default="adftd", description="Dataset whose channels, classes and settings are used."
    )
    lengths: str = Field(default="128,256,512,1024,2048,4096", description="Window lengths in steps.")
    batch: int = Field(default=4, ge=1, description="Batch size.")
    device: contract.Device = contract.device_field()
    threads: int | None = contract.threads_field()
    time_limit: float = Field(
        default=60.0,
        gt=0,
        description="Time for all lengths of one model.",
        json_schema_extra={"metavar": "SECONDS"},
    )
    memory: float | None = contract.memory_field()


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Scaling",
    summary="How cost grows with the length of the window.",
    examples=(
        "bench analyze scaling",
        "bench analyze scaling --models medmamba,transformer --lengths 512,1024,2048 --batch 1",
    ),
    options=Options,
    record=ScalingRecord,
    package="bench.analyses.scaling",
)
