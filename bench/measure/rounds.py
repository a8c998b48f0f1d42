"""Measuring several models in turns until the numbers are narrow enough or the time is over."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.stats.timings import summarise

Visit = Callable[[], list[float]]
"""One round of one model: the seconds of each of its runs."""

Stop = Literal["narrow enough", "time limit", "most rounds", "fell out"]

MOST_ROUNDS = 200


class FellOutError(Exception):
    """A model cannot be measured any more; the message says why. The others continue."""


@dataclass(frozen=True, kw_only=True)
class Precision:
    """When to stop.

    ``half_width`` is half the interval of a median, as a part of the median; ``limit_s`` the time for all models
    together.
    """

    half_width: float
    limit_s: float


@dataclass(frozen=True)
class Measured:
    """All rounds of one model, in order, and why there are no more."""

    rounds: tuple[tuple[float, ...], ...]
    stop: Stop
    message: str = ""


def take_turns(
    visits: Mapping[str, Visit],
    precision: Precision,
    *,
    anchor: str | None = None,
    now: Callable[[], float] = time.monotonic,
) -> dict[str, Measured]:
    """Visit every model once per round, in the same order, until each median is known well enough.

    Parameters
    ----------
    visits
        One callable per model.
    precision
        When to stop. A model whose next round would take more than an equal share of the time left stops, so
        that slow ones do not use up the time of the others; all have the first round at least.
    anchor
        A model measured until the last model is finished, so that every round has one of its rounds beside it.
    now
        Seconds of a clock that never goes back.

    Returns
    -------
    dict
        Raw rounds; round i of two models were taken in the same turn.
    """
    turns = _Turns(visits)
    stops: dict[str, Stop] = {}
    started = now()
    while len(stops) < len(visits):
        for name in visits:
            if name not in turns.messages and (name not in stops or name == anchor):
                turns.visit(name)
        stops.update(dict.fromkeys(turns.messages, "fell out"))
        going = [name for name in visits if name not in stops]
        share_s = (precision.limit_s - (now() - started)) / max(len(going), 1)
        for name in going:
            # Not by the time of the visit: the first one has a warm-up besides.
            fits = sum(turns.rounds[name][-1]) <= share_s
            if stop := _reason_to_stop(turns.rounds[name], precision, fits=fits):
                stops[name] = stop
    return {
        name: Measured(tuple(turns.rounds[name]), stops[name], turns.messages.get(name, ""))
        for name in visits
    }


class _Turns:
    """The results of the visits so far: rounds, and the models that fell out."""

    def __init__(self, visits: Mapping[str, Visit]) -> None:
        self.visits = visits
        self.rounds: dict[str, list[tuple[float, ...]]] = {name: [] for name in visits}
        self.messages: dict[str, str] = {}

    def visit(self, name: str) -> None:
        """Take one round of a model."""
        try:
            self.rounds[name].append(tuple(self.visits[name]()))
        except FellOutError as error:
            self.messages[name] = str(error)


def _reason_to_stop(rounds: list[tuple[float, ...]], precision: Precision, *, fits: bool) -> Stop | None:
    half_width = summarise(rounds).half_width
    if half_width is not None and half_width <= precision.half_width:
        return "narrow enough"
    if not fits:
        return "time limit"
    return "most rounds" if len(rounds) >= MOST_ROUNDS else None
