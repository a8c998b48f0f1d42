"""Models: a registry of names and one file per architecture."""

from bench.models.registry import build, entry, load_reference_weights, names

__all__ = ["build", "entry", "load_reference_weights", "names"]
