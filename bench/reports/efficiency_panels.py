"""Efficiency records sorted into panels: one dataset's shape, one width, one device with its versions.

Numbers of different panels never share a column, and ratios are taken within a session, where models took turns.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.reports.suite import OURS, in_paper_order, short_name
from bench.results.efficiency import Condition, EfficiencyRecord, Mode, TaskShape, Width
from bench.results.record import Environment
from bench.results.timings import Ratio, Summary, speed_ratio, summarise

PUBLISHED_BATCH = 256


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
    torch: str

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
            place.versions.get("torch", "unknown"),
        )


@dataclass(frozen=True)
class Panel:
    """The newest record of each model, in the order of the paper."""

    key: PanelKey
    records: dict[str, EfficiencyRecord]

    @property
    def environment(self) -> Environment:
        """Where it was measured; the scan's backend is MedMamba's, if it is among the models."""
        return self.records.get(OURS, next(iter(self.records.values()))).environment

    @property
    def label(self) -> str:
        """Name it in a few words; several panels may have the same."""
        return f"{short_name(self.key.task.dataset)}, {self.key.width}, {self.key.device}"

    @property
    def description(self) -> str:
        """Say dataset, width, device, threads, precision, scan and version of torch."""
        scan = self.environment.scan_backend
        parts = [
            f"{short_name(self.key.task.dataset)} {self.key.task.n_times} x {self.key.task.n_channels}",
            f"width {self.key.width}"
            + ("" if self.key.preset == "paper" else f" of preset {self.key.preset}"),
            f"{self.key.device_name} ({self.key.device})",
            f"{self.key.threads} threads" if self.key.threads > 1 else "1 thread",
            self.key.precision,
            *([f"scan {scan}"] if scan else []),
            f"torch {self.key.torch}",
        ]
        return ", ".join(parts)

    @cached_property
    def workloads(self) -> tuple[tuple[Mode, int], ...]:
        """Every workload that any model was asked for: inference first, small batches first."""
        asked: set[tuple[Mode, int]] = set()
        for record in self.records.values():
            asked.update((one.mode, one.batch_asked) for one in record.conditions)
        return tuple(sorted(asked))

    @property
    def throughput_batch(self) -> int | None:
        """The batch at which throughputs are compared: the paper's, else the largest in inference."""
        batches = [batch for mode, batch in self.workloads if mode == "inference"]
        return PUBLISHED_BATCH if PUBLISHED_BATCH in batches else max(batches, default=None)

    def condition(self, model: str, mode: Mode, batch: int) -> Condition | None:
        """Return a workload of a model that could be run, else None."""
        found = self.records[model].condition(mode, batch)
        return found if found is not None and found.rounds else None

    def summary(self, model: str, mode: Mode, batch: int) -> Summary | None:
        """Return the seconds of one run, or None where there is none."""
        found = self.condition(model, mode, batch)
        return None if found is None else summarise(found.rounds)

    def throughput(self, model: str) -> float | None:
        """Return windows per second in inference at the batch of comparison."""
        batch = self.throughput_batch
        found = None if batch is None else self.condition(model, "inference", batch)
        if found is None or found.batch is None:
            return None
        return found.batch / summarise(found.rounds).median

    def ratio(self, model: str) -> Ratio | None:
        """Return MedMamba's windows per second over a model's, of one session; None where there is no such pair."""
        batch = self.throughput_batch
        if batch is None or OURS not in self.records:
            return None
        if self.records[OURS].session != self.records[model].session:
            return None
        slow, fast = (self.condition(name, "inference", batch) for name in (model, OURS))
        if slow is None or fast is None or slow.batch is None or fast.batch is None:
            return None
        return speed_ratio(slow.rounds, fast.rounds, (slow.batch, fast.batch))


def panels(records: Iterable[EfficiencyRecord]) -> list[Panel]:
    """Sort records into panels; the newest record of a model stands for it."""
    newest: dict[PanelKey, dict[str, EfficiencyRecord]] = defaultdict(dict)
    for record in records:
        found = newest[PanelKey.of(record)]
        if record.model not in found or record.session > found[record.model].session:
            found[record.model] = record
    return [
        Panel(key, {name: newest[key][name] for name in in_paper_order(newest[key])})
        for key in sorted(newest, key=lambda one: (one.task.dataset, one.width, one.preset, one.device_name))
    ]


def describe_panels(found: Sequence[Panel]) -> str:
    """Return the end of a caption: every panel by its number."""
    texts = (f"({number}) {panel.description}" for number, panel in enumerate(found, start=1))
    return f"Panels: {'; '.join(texts)}."


def numbered(number: int, panel: Panel) -> str:
    """Return how tables name a panel."""
    return f"panel {number}: {panel.label}"
