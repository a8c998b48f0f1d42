"""What a worker tells of a training while it runs: how far it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass

PERIOD_S = 0.5


@dataclass(frozen=True)
class Position:
    """How far a training is.

    ``epochs`` are those that are over, and the share of the one under way: 1.25 is a quarter of the second.
    ``val_f1`` is the validation score of the last that is over, None before the first.
    """

    epochs: float
    val_f1: float | None = None


OnPosition = Callable[[Position], None]


def now_and_then(on_position: OnPosition, period_s: float = PERIOD_S) -> OnPosition:
    """Return a function that passes a position on if the last one that it passed is old enough."""
    last = -float("inf")

    def pass_on(position: Position) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= period_s:
            last = now
            on_position(position)

    return pass_on
