"""The record of what one model costs on one device: sizes, operations, and every timing that was taken."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bench.errors import RecordError
from bench.results.json_record import read_json_record, write_json_record
from bench.results.record import Environment, Parameters, Sha256

SCHEMA = 1
FOLDER = "efficiency"
REMEDY = "remove the file and measure again"

Width = Literal["script", "wide"]
Mode = Literal["inference", "training"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskShape(_Part):
    """The windows: those of a dataset, filled with random numbers."""

    dataset: str
    n_times: int
    n_channels: int
    n_classes: int


class Operations(_Part):
    """Floating-point operations of one window's forward pass, by what takes them."""

    products: int
    transforms: int
    scans: int

    @property
    def total(self) -> int:
        """All that is counted."""
        return self.products + self.transforms + self.scans


class Condition(_Part):
    """One workload: inference or a step of training, at one batch.

    ``batch`` is the one that was run: ``batch_asked``, or less where that did not fit; None where nothing could be
    run. ``rounds`` are the seconds of all runs, round by round; round i of all models of one session was taken in the
    same turn. ``memory_bytes`` is the peak of ``batch`` in a fresh process beyond what it held without the model.
    ``message`` names the model and says why there are no rounds, or no more.
    """

    mode: Mode
    batch_asked: int
    batch: int | None
    rounds: tuple[tuple[float, ...], ...] = ()
    stop: str = ""
    memory_bytes: int | None = None
    message: str = ""


class EfficiencyRecord(_Part):
    """One model of one width on one device. Numbers of different environments never share a column.

    ``key`` is of what was measured, ``session`` the time at which that began; models of one session were measured in
    turns. ``environment`` names the backend that scans ran on, whether or not the model has one. ``warnings`` say
    what else the machine was doing.
    """

    schema_version: Literal[1] = Field(alias="schema")
    key: Sha256
    session: str
    model: str
    width: Width
    preset: str
    task: TaskShape
    hyperparameters: dict[str, Any]
    revision: int | str
    environment: Environment
    parameters: Parameters
    operations: Operations | None
    load_s: float | None
    conditions: tuple[Condition, ...]
    half_width_asked: float
    limit_s: float
    warnings: tuple[str, ...] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def condition(self, mode: Mode, batch_asked: int) -> Condition | None:
        """Return the condition of a workload, or None where it was not asked for."""
        for one in self.conditions:
            if (one.mode, one.batch_asked) == (mode, batch_asked):
                return one
        return None


def efficiency_key(*, identity: dict[str, Any], environment: Environment) -> str:
    """Return the key: a hash over what was measured, the device and all versions."""
    content = {"identity": identity, "environment": environment.model_dump(mode="json")}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write_efficiency(out: Path, record: EfficiencyRecord) -> Path:
    """Write a record below a results folder. Those of earlier sessions stay: ratios are of one session's models."""
    when = re.sub(r"\D", "", record.session)[:14]
    name = f"{record.model}-{record.width}-{record.key[:12]}-{when}.json"
    return write_json_record(out / FOLDER / record.task.dataset / name, record)


def read_efficiency(out: Path) -> tuple[list[EfficiencyRecord], list[RecordError]]:
    """Return all readable records of a results folder, sorted by path, and an error for each that is not."""
    records, damaged = [], []
    for path in sorted((out / FOLDER).glob("*/*.json")):
        try:
            records.append(read_json_record(path, EfficiencyRecord, schema=SCHEMA, remedy=REMEDY))
        except RecordError as error:
            damaged.append(error)
    return records, damaged
