"""What a cell will cost in time and memory: from records of its like, or from a short trial. Free of torch."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import mean

from bench.plan.grid import PlannedCell
from bench.results.record import Record

# How far off a prediction may well be beyond what the measurements themselves vary.
DOUBT_OF_RECORDS, DOUBT_OF_TRIALS, DOUBT_OF_SCALING = 0.1, 0.25, 0.25


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Parts of a cell's cost as a short trial on this device measured them; times in seconds.

    ``train_window_s`` and ``eval_window_s`` are of one window, each measured several times; ``n_windows`` is how many
    windows a trial step had, which may be fewer than the recipe's batch.
    """

    start_s: float
    load_s: float
    build_s: float
    first_step_s: float
    train_window_s: tuple[float, ...]
    eval_window_s: tuple[float, ...]
    score_s: float
    checkpoint_s: float
    n_windows: int
    memory_before_bytes: int
    memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted cost of one cell. ``doubt`` is how far off it may be, as a part of it; ``source`` says what it is from.

    ``at_most`` marks a training that may stop early.
    """

    seconds: float
    memory_bytes: int | None
    doubt: float
    source: str
    at_most: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where cells run, as far as their cost depends on it."""

    device: str
    device_name: str
    threads: int


def likeness(planned: PlannedCell) -> str:
    """Return the same text for cells that differ by their seed only."""
    return _likeness(planned.settings.model_dump(mode="json"))


def _likeness(settings: Mapping[str, object]) -> str:
    ignored = ("seed", "origins", "preset")
    return json.dumps({k: v for k, v in settings.items() if k not in ignored}, sort_keys=True)


def place_of(record: Record) -> Place:
    """Return where a record's cell ran."""
    environment = record.environment
    return Place(device=environment.device, device_name=environment.device_name, threads=environment.threads)


def costs_from_records(records: Sequence[Record], place: Place) -> dict[str, Cost]:
    """Return the cost of cells by their `likeness`, from finished cells of the same place."""
    alike: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.is_done and place_of(record) == place:
            alike[_likeness(record.settings)].append(record)
    return {name: _cost_of(some) for name, some in alike.items()}


def _cost_of(records: Sequence[Record]) -> Cost:
    seconds = [whole_time_s(record) for record in records]
    middle = mean(seconds)
    memory = [record.peak_memory_bytes for record in records if record.peak_memory_bytes is not None]
    return Cost(
        seconds=middle,
        memory_bytes=max(memory, default=None),
        doubt=DOUBT_OF_RECORDS + (max(seconds) - min(seconds)) / 2 / middle,
        source=f"{len(records)} record{'s' if len(records) > 1 else ''}",
    )


def whole_time_s(record: Record) -> float:
    """Return the time of a cell with all its epochs, those before an interruption included."""
    timing = record.timing
    return (
        timing.total_s - timing.train_s + max(timing.train_s, sum(epoch.seconds for epoch in record.history))
    )


def cost_from_trial(planned: PlannedCell, trial: Trial) -> Cost:
    """Return the cost of a cell whose data is prepared, from a trial of a cell of its likeness."""
    assert planned.cell is not None, "the cell's data is not prepared"
    training, data = planned.settings.training, planned.cell.data.description
    n_val, n_test = data.parts["validation"].n_windows, data.parts["test"].n_windows
    train_s, eval_s = min(trial.train_window_s), min(trial.eval_window_s)
    per_epoch = data.n_train_windows_used * train_s + n_val * eval_s + trial.checkpoint_s
    fixed = trial.start_s + trial.load_s + trial.build_s + trial.first_step_s + trial.score_s
    batch = min(training.micro_batch_size or training.batch_size, data.n_train_windows_used)
    scale = max(1.0, batch / trial.n_windows)
    grown = trial.memory_bytes - trial.memory_before_bytes
    spread = max(trial.train_window_s) / train_s - 1
    scaled = scale > 1
    return Cost(
        seconds=fixed + training.epochs * per_epoch + (n_val + n_test) * eval_s,
        memory_bytes=int(trial.memory_before_bytes + grown * scale),
        doubt=DOUBT_OF_TRIALS + spread / 2 + (DOUBT_OF_SCALING if scaled else 0.0),
        source=f"a trial with {trial.n_windows} of {batch} windows" if scaled else "a trial",
        at_most=training.patience is not None and training.patience < training.epochs,
    )


def expectation(cells: Sequence[PlannedCell], records: Sequence[Record]) -> str | None:
    """Return in one line what the cells that are not done will take by their finished likes; None without any.

    Where records come from several places, the one with most of them counts.
    """
    places = Counter(place_of(record) for record in records if record.is_done)
    waiting = [one for one in cells if one.status != "done"]
    if not places or not waiting:
        return None
    ((place, _),) = places.most_common(1)
    costs = costs_from_records(records, place)
    known = [cost for one in waiting if (cost := costs.get(likeness(one))) is not None]
    seconds = sum(cost.seconds for cost in known)
    return (
        f"{duration(seconds)} for {len(known)} of the {len(waiting)} cells that are not done, by records of their "
        f"kind on {place.device_name} with --threads {place.threads}; 'bench plan' tries the others"
    )


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def wall_time_s(seconds: Sequence[float], n_workers: int) -> float:
    """Return how long workers take for cells that each takes in turn."""
    ends: list[float] = [0.0] * n_workers
    for one in seconds:
        heappush(ends, heappop(ends) + one)
    return max(ends)
