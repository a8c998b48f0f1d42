"""Datasets: read, cut, split and loaded by name."""

from bench.datasets.cache.entry import find_prepared
from bench.datasets.cache.prepare import prepare
from bench.datasets.loading import load
from bench.datasets.registry import (
    DatasetEntry,
    entry,
    facts,
    names,
    reader,
    register,
    register_file,
    register_imported,
)
from bench.datasets.splits import make_split
from bench.datasets.verify import verify

__all__ = [
    "DatasetEntry",
    "entry",
    "facts",
    "find_prepared",
    "load",
    "make_split",
    "names",
    "prepare",
    "reader",
    "register",
    "register_file",
    "register_imported",
    "verify",
]
