"""Efficiency records sorted into panels: one dataset's shape, one width, one device with its versions.

Panels of one device are blocks of one table, never rows of one block. Ratios are taken within a session, where models
took turns. Timings that other programs disturbed take no part; an earlier session's stand in where there are some.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from statistics import median

from bench.paper.names import OURS, in_paper_order, short_name
from bench.results.efficiency_record import EfficiencyRecord, Mode, TaskShape, TimedWorkload, Width
from bench.stats.estimate import Bounds
from bench.stats.timings import CONFIDENCE, Ratio, median_interval, speed_ratio, summarise

PUBLISHED_BATCH = 256
PAPER = "paper"
"""The preset whose models have the sizes of the published scripts."""


@dataclass(frozen=True)
class PanelKey:
    """What all records of a panel share."""

    task: TaskShape
    width: Width
    preset: str
    device: str
    device_name: str
    threads: int
    precision: str
    scan_backend: str | None
    torch: str

    @property
    def device_label(self) -> tuple[str, str]:
        """Kind and name of the device."""
        return self.device, self.device_name

    @property
    def size(self) -> str:
        """The width, and the preset where that is not the paper's."""
        return self.width if self.preset == PAPER else f"{self.width} of preset {self.preset}"

    @classmethod
    def of(cls, record: EfficiencyRecord) -> "PanelKey":
        """Return the key of a record's panel."""
        place = record.environment
        return cls(
            record.task,
            record.width,
            record.preset,
            place.device,
            place.device_name,
            place.threads,
            place.precision,
            place.scan_backend,
            place.versions.get("torch", "unknown"),
        )


@dataclass(frozen=True)
class Panel:
    """The models measured under one `PanelKey`, in the order of the paper; panels of one report are numbered.

    ``records`` holds the newest record of each model. The newest timings of each workload count, so a later, smaller
    measurement hides nothing: ``history`` holds all records of the same code and size, the newest first.
    """

    key: PanelKey
    records: dict[str, EfficiencyRecord]
    history: dict[str, tuple[EfficiencyRecord, ...]] = field(default_factory=dict)
    number: int = 1

    @property
    def label(self) -> str:
        """A short name; several panels may share it."""
        return f"{short_name(self.key.task.dataset)}, {self.key.size}, {self.key.device}"

    @property
    def heading(self) -> str:
        """The heading of its block in tables."""
        return f"panel {self.number}: {self.label}"

    @property
    def description(self) -> str:
        """Dataset, width, device, threads, precision, scan, version of torch, and how long each model was measured."""
        place = self.key
        parts = [
            f"{short_name(place.task.dataset)} {place.task.n_times} x {place.task.n_channels}",
            f"width {place.size}",
            f"{place.device_name} ({place.device})",
            f"{place.threads} threads" if place.threads > 1 else "1 thread",
            place.precision,
            *([f"scan {place.scan_backend}"] if place.scan_backend else []),
            f"torch {place.torch}",
            self._effort,
        ]
        return ", ".join(parts)

    @property
    def _effort(self) -> str:
        """The precision and the time limit that each model was measured to, once for each pair of them."""
        asked = {(record.half_width_asked, record.limit_s) for record in self.records.values()}
        texts = (
            f"until ±{100 * half_width:g}% or {limit_s:g} s a model" for half_width, limit_s in sorted(asked)
        )
        return " and ".join(texts)

    def past(self, model: str) -> tuple[EfficiencyRecord, ...]:
        """Return all records of a model, the newest first."""
        return self.history.get(model, (self.records[model],))

    @cached_property
    def workloads(self) -> tuple[tuple[Mode, int], ...]:
        """Every workload asked for any model: inference first, small batches first."""
        asked: set[tuple[Mode, int]] = set()
        for model in self.records:
            for record in self.past(model):
                asked.update((condition.mode, condition.batch_asked) for condition in record.conditions)
        return tuple(sorted(asked))

    @property
    def throughput_batch(self) -> int | None:
        """The batch at which throughputs are compared: the paper's, else the largest in inference."""
        batches = [batch for mode, batch in self.workloads if mode == "inference"]
        return PUBLISHED_BATCH if PUBLISHED_BATCH in batches else max(batches, default=None)

    def asked(self, model: str, mode: Mode, batch: int) -> TimedWorkload | None:
        """Return the newest timings of a workload, or its record without timings; None if it was not asked for."""
        found = [
            workload for record in self.past(model) if (workload := record.condition(mode, batch)) is not None
        ]
        return next((workload for workload in found if workload.rounds), found[0] if found else None)

    def condition(self, model: str, mode: Mode, batch: int) -> TimedWorkload | None:
        """Return a workload of a model if it was timed, else None."""
        found = self.asked(model, mode, batch)
        return found if found is not None and found.rounds else None

    def half_width_asked(self, model: str, condition: TimedWorkload) -> float:
        """Return the requested half-width of a workload's median, as a fraction of the median."""
        records = (record for record in self.past(model) if condition in record.conditions)
        return next(records, self.records[model]).half_width_asked

    def compared(self, model: str) -> TimedWorkload | None:
        """Return the inference at the batch of comparison, if it was timed."""
        batch = self.throughput_batch
        return None if batch is None else self.condition(model, "inference", batch)

    def throughput(self, model: str) -> float | None:
        """Return windows per second in inference at the batch of comparison."""
        found = self.compared(model)
        if found is None or found.batch is None:
            return None
        return found.batch / summarise(found.rounds).median

    def throughput_bounds(self, model: str, level: float) -> Bounds | None:
        """Return an interval of the windows per second; without limits where there are too few rounds for the level."""
        found = self.compared(model)
        if found is None or found.batch is None:
            return None
        low, high = median_interval([median(runs) for runs in found.rounds], level) or (0.0, inf)
        return Bounds(found.batch / high, found.batch / low if low else inf, level)

    def ratio(self, model: str, level: float = CONFIDENCE) -> Ratio | None:
        """Return MedMamba's windows per second over a model's, of the newest session that timed both at one batch.

        ``level`` is that of the interval.
        """
        batch = self.throughput_batch
        if batch is None or OURS not in self.records:
            return None
        ours = {record.session: record for record in self.past(OURS)}
        for record in self.past(model):
            if record.session not in ours:
                continue
            slow, fast = (
                of_model.condition("inference", batch) for of_model in (record, ours[record.session])
            )
            if slow and fast and slow.rounds and fast.rounds and slow.batch and fast.batch:
                return speed_ratio(slow.rounds, fast.rounds, (slow.batch, fast.batch), level)
        return None


def panels(records: Iterable[EfficiencyRecord]) -> list[Panel]:
    """Sort records into panels, without disturbed timings, and those by dataset, size, device, threads and torch."""
    found: dict[PanelKey, dict[str, list[EfficiencyRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record.session, reverse=True):
        found[PanelKey.of(record)][record.model].append(record.without_disturbed_timings())
    keys = sorted(found, key=_order)
    return [_panel(key, found[key], number) for number, key in enumerate(keys, start=1)]


def _order(key: PanelKey) -> tuple[str | int, ...]:
    scan = key.scan_backend or ""
    return (
        key.task.dataset, key.preset, key.width, key.device_name, key.device, key.threads, key.precision, scan,
        key.torch,
    )  # fmt: skip


def _panel(key: PanelKey, found: dict[str, list[EfficiencyRecord]], number: int) -> Panel:
    newest = {name: found[name][0] for name in in_paper_order(found)}
    history = {
        name: tuple(record for record in found[name] if _is_same_model(record, newest[name]))
        for name in newest
    }
    return Panel(key, newest, history, number)


def _is_same_model(first: EfficiencyRecord, other: EfficiencyRecord) -> bool:
    return (first.revision, first.hyperparameters) == (other.revision, other.hyperparameters)


def describe_panels(found: Sequence[Panel]) -> str:
    """Return the end of a caption: the description of every panel, by its number."""
    texts = (f"({panel.number}) {panel.description}" for panel in found)
    return f"Panels: {'; '.join(texts)}."
