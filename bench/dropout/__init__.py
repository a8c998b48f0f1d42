"""Dropout whose places are drawn from a key and a counter, so that nothing is kept and every backend drops the same."""

from bench.dropout.dispatch import BACKENDS, CHOICE, drop
from bench.dropout.dropped import Dropped, draw_seed

__all__ = ["BACKENDS", "CHOICE", "Dropped", "draw_seed", "drop"]
