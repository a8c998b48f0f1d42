"""Attention with dropout on CPUs: one contract, several backends that drop the same probabilities."""

from bench.attention.dispatch import BACKENDS, CHOICE, attention

__all__ = ["BACKENDS", "CHOICE", "attention"]
