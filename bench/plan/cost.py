"""Predicted time and memory of a cell: from records of similar cells, or from a short trial. Free of torch."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, nlargest
from statistics import mean, median

from bench.plan.grid import PlannedCell
from bench.plan.patience import Stopping, may_stop_early
from bench.results.record import Record

# Relative error of a prediction beyond the variation of its measurements.
DOUBT_OF_RECORDS, DOUBT_OF_TRIALS, DOUBT_OF_SCALING = 0.1, 0.25, 0.25


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Parts of a cell's cost, measured by a short trial on this device; times in seconds.

    ``train_window_s`` and ``eval_window_s`` are of one window, each measured several times. ``memory_before_bytes`` is
    the peak before the first step, ``memory_bytes`` that of the whole trial. ``memory_by_step`` has, for each size of a
    forward pass in training, its windows and the peak after such steps; the last may be smaller than the recipe's.
    """

    start_s: float
    load_s: float
    build_s: float
    first_step_s: float
    train_window_s: tuple[float, ...]
    eval_window_s: tuple[float, ...]
    score_s: float
    checkpoint_s: float
    memory_before_bytes: int
    memory_by_step: tuple[tuple[int, int], ...]
    memory_bytes: int

    @property
    def n_windows(self) -> int:
        """Windows of the largest forward pass that was tried."""
        return self.memory_by_step[-1][0]

    def memory_of(self, n_windows: int) -> int:
        """Return the peak of a cell that trains so many windows in one forward pass, in bytes.

        Beyond the largest step that was tried the peak grows as between the smallest and that one: only windows are
        multiplied, not weights, libraries and data.
        """
        few, below = self.memory_by_step[0]
        many, above = self.memory_by_step[-1]
        if few == many:
            few, below = 0, self.memory_before_bytes
        a_window = max(0, above - below) / (many - few)
        return max(self.memory_bytes, int(above + a_window * (n_windows - many)))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted cost of one cell. ``doubt`` is its relative error; ``source`` names what it is predicted from.

    ``at_most`` marks a training that may stop early.
    """

    seconds: float
    memory_bytes: int | None
    doubt: float
    source: str
    at_most: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """The machine and threads of cells, as far as their cost depends on them."""

    device: str
    device_name: str
    threads: int


def same_but_seed(planned: PlannedCell) -> str:
    """Return a text that is equal for cells that differ by their seed only."""
    data = None if planned.cell is None else planned.cell.data.description.fingerprint
    return _same_but_seed(planned.settings.model_dump(mode="json"), data)


def _same_but_seed(settings: Mapping[str, object], fingerprint: str | None) -> str:
    ignored = ("seed", "origins", "preset", "candidate", "tuned")
    kept = {name: value for name, value in settings.items() if name not in ignored}
    return json.dumps({**kept, "fingerprint": fingerprint}, sort_keys=True)


def place_of(record: Record) -> Place:
    """Return the place of a record's cell."""
    environment = record.environment
    return Place(device=environment.device, device_name=environment.device_name, threads=environment.threads)


def commonest_place(records: Sequence[Record]) -> Place | None:
    """Return the place of most finished cells; None without any."""
    places = Counter(place_of(record) for record in records if record.is_done)
    return places.most_common(1)[0][0] if places else None


def costs_from_records(records: Sequence[Record], place: Place) -> dict[str, Cost]:
    """Return the cost of cells by their `same_but_seed`, from finished cells of the same place.

    Cells that lacked memory and were trained in smaller micro-batches are left out, since others take other time.
    """
    alike: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        whole = record.micro_batch_size_used == record.settings["training"].get("micro_batch_size")
        if record.is_done and whole and record.whole_time_s > 0 and place_of(record) == place:
            alike[_same_but_seed(record.settings, record.data.fingerprint)].append(record)
    return {name: _cost_of(members) for name, members in alike.items()}


def _cost_of(records: Sequence[Record]) -> Cost:
    seconds = [record.whole_time_s for record in records]
    middle = mean(seconds)
    memory = [record.peak_memory_bytes for record in records if record.peak_memory_bytes is not None]
    return Cost(
        seconds=middle,
        memory_bytes=max(memory, default=None),
        doubt=DOUBT_OF_RECORDS + (max(seconds) - min(seconds)) / 2 / middle,
        source=f"{len(records)} record{'s' if len(records) > 1 else ''}",
    )


def cost_from_trial(planned: PlannedCell, trial: Trial, stopping: Stopping | None = None) -> Cost:
    """Return the cost of a cell with prepared data, from a trial of a cell that differs by its seed only.

    Parameters
    ----------
    planned, trial
        The cell and the trial.
    stopping
        When patience ends the training; None counts all its epochs.
    """
    assert planned.cell is not None, "the cell's data is not prepared"
    training, data = planned.settings.protocol, planned.cell.data.description
    n_val, n_test = data.parts["validation"].n_windows, data.parts["test"].n_windows
    train_s, eval_s = median(trial.train_window_s), median(trial.eval_window_s)
    per_epoch = data.n_train_windows_used * train_s + n_val * eval_s + trial.checkpoint_s
    fixed = trial.start_s + trial.load_s + trial.build_s + trial.first_step_s + trial.score_s
    batch = min(training.micro_batch_size or training.batch_size, data.n_train_windows_used)
    scaled = batch > trial.n_windows
    doubt = DOUBT_OF_TRIALS + _spread(trial.train_window_s) + (DOUBT_OF_SCALING if scaled else 0.0)
    source = f"a trial with {trial.n_windows} of {batch} windows" if scaled else "a trial"
    epochs = training.epochs if stopping is None else stopping.epochs
    return Cost(
        seconds=fixed + epochs * per_epoch + (n_val + n_test) * eval_s,
        memory_bytes=trial.memory_of(batch),
        doubt=doubt + (0.0 if stopping is None else stopping.doubt),
        source=source if stopping is None else f"{source}, {stopping.source}",
        at_most=stopping is None and may_stop_early(planned),
    )


def _spread(measured: Sequence[float]) -> float:
    """Return half the distance between the quartiles, relative to the median."""
    ordered = sorted(measured)
    cut = len(ordered) // 4
    return (ordered[-1 - cut] - ordered[cut]) / 2 / median(ordered)


def describe_cost(cost: Cost) -> str:
    """Return a cell's cost as text, with its uncertainty and source."""
    bound = "at most " if cost.at_most else ""
    memory = "" if cost.memory_bytes is None else f"{cost.memory_bytes / 2**30:.1f} GiB, "
    return f"{bound}{duration(cost.seconds)}, {memory}give or take {100 * cost.doubt:.0f} % ({cost.source})"


def describe_total(costs: Sequence[Cost | None], n_workers: int) -> list[str]:
    """Return the total cost of the cells to train as text, and the number of cells of unknown cost."""
    known = [cost for cost in costs if cost is not None]
    seconds = [cost.seconds for cost in known]
    wall = wall_time_s(seconds, n_workers)
    doubt = sum(cost.seconds * cost.doubt for cost in known) / max(sum(seconds), 1e-9)
    memory = nlargest(n_workers, (cost.memory_bytes or 0 for cost in known))
    lines = []
    if known:
        lines.append(
            f"in all: {duration(sum(seconds))} of cells, {duration(wall)} with --jobs {n_workers} "
            f"(from {duration(wall / (1 + doubt))} to {duration(wall * (1 + doubt))}), "
            f"at most {memory[0] / 2**30:.1f} GiB a cell, {sum(memory) / 2**30:.1f} GiB at once"
        )
    if len(known) < len(costs):
        lines.append(f"not counted: {len(costs) - len(known)} cells whose cost is unknown")
    return lines


def memory_warning(costs: Sequence[Cost | None], n_workers: int, available_bytes: int) -> list[str]:
    """Return a warning, and what to set, if the cells that run at once need more memory than there is; else nothing."""
    sizes = [cost.memory_bytes for cost in costs if cost is not None and cost.memory_bytes is not None]
    largest = nlargest(n_workers, sizes)
    if sum(largest) <= available_bytes:
        return []
    room = 0
    while room < len(largest) and sum(largest[: room + 1]) <= available_bytes:
        room += 1
    needed, there = sum(largest) / 2**30, available_bytes / 2**30
    remedy = (
        f"set --jobs {room}" if room else "set --jobs 1 --set micro_batch_size=8 (windows at once in a step)"
    )
    return [
        f"warning: {len(largest)} cells at once need {needed:.1f} GiB, {there:.1f} GiB are free: {remedy}"
    ]


def duration(seconds: float) -> str:
    """Return a time as text, such as ``3 min``."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def wall_time_s(seconds: Sequence[float], n_workers: int) -> float:
    """Return the wall time of several workers that take cells from one queue, in seconds."""
    ends: list[float] = [0.0] * n_workers
    for cell_s in seconds:
        heappush(ends, heappop(ends) + cell_s)
    return max(ends)
