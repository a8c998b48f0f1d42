"""The record of one model's cost on one device: sizes, operations, and every timing."""

import hashlib
import json
import re
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from bench.results.field_types import Count, Line, Name, Size
from bench.results.frozen_model import FrozenModel
from bench.results.record import Environment, Parameters, Sha256

Width = Literal["script", "wide"]
Mode = Literal["inference", "training"]

OTHERS_WERE_BUSY = "other programs kept up to"
"""How the warning begins that other programs took more of the machine than timings bear."""


class TaskShape(FrozenModel):
    """The windows: those of a dataset, filled with random numbers."""

    dataset: Name
    n_times: Size
    n_channels: Size
    n_classes: Size


class Operations(FrozenModel):
    """Floating-point operations of one window's forward pass, by kind."""

    products: Count
    transforms: Count
    scans: Count

    @property
    def total(self) -> int:
        """The sum of all kinds."""
        return self.products + self.transforms + self.scans


class TimedWorkload(FrozenModel):
    """One timed workload: inference or a step of training, at one batch.

    ``batch`` is the batch that was run: ``batch_asked``, or less if that did not fit; None if nothing could be
    run. ``rounds`` are the seconds of all runs, round by round; round i of all models of one session was taken in the
    same turn. ``memory_bytes`` is the peak of ``batch`` in a fresh process beyond what it held without the model.
    ``message`` explains missing rounds, by the model's name where it is to blame.
    """

    mode: Mode
    batch_asked: Size
    batch: Size | None
    rounds: tuple[tuple[Annotated[float, Field(gt=0)], ...], ...] = ()
    stop: str = ""
    memory_bytes: int | None = None
    message: str = ""


class EfficiencyRecord(FrozenModel):
    """One model of one width on one device. Numbers of different environments never share a column.

    ``key`` is the hash of what was measured, ``session`` its start time; models of one session were measured in
    turns. ``environment`` names the scan backend, even of models without scans. ``warnings`` say
    what else the machine was doing.
    """

    schema_version: Literal[1] = Field(alias="schema")
    key: Sha256
    session: Line
    model: Name
    width: Width
    preset: Line
    task: TaskShape
    hyperparameters: dict[str, Any]
    revision: int | str
    environment: Environment
    parameters: Parameters
    operations: Operations | None
    load_s: float | None
    conditions: tuple[TimedWorkload, ...]
    half_width_asked: float
    limit_s: float
    warnings: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @property
    def stem(self) -> str:
        """Name of its file; files of earlier sessions stay, since ratios need models of the same session."""
        when = re.sub(r"\D", "", self.session)[:14]
        return f"{self.task.dataset}/{self.model}-{self.width}-{self.key[:12]}-{when}"

    @property
    def analysed(self) -> tuple[()]:
        """No trained cells."""
        return ()

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs took so much of the machine that the timings say little of the model."""
        return any(text.startswith(OTHERS_WERE_BUSY) for text in self.warnings)

    def without_disturbed_timings(self) -> "EfficiencyRecord":
        """Return the record, its timings left out with a message where they were disturbed; memory and sizes stay."""
        if not self.is_disturbed:
            return self
        message = (
            "not shown: other programs took more than half a core meanwhile; time it again on an idle machine"
        )
        conditions = tuple(
            workload.model_copy(update={"rounds": (), "message": message}) if workload.rounds else workload
            for workload in self.conditions
        )
        return self.model_copy(update={"conditions": conditions})

    def condition(self, mode: Mode, batch_asked: int) -> TimedWorkload | None:
        """Return a workload, or None if it was not asked for."""
        for condition in self.conditions:
            if (condition.mode, condition.batch_asked) == (mode, batch_asked):
                return condition
        return None


def efficiency_key(*, identity: dict[str, Any], environment: Environment) -> str:
    """Return the key: a hash of the model, its task and workloads, the device and all versions."""
    content = {"identity": identity, "environment": environment.model_dump(mode="json")}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
