"""The table of datasets: names, near misses, doubles, and what a dataset's file must define."""

import sys
from types import ModuleType

import pytest

from bench.datasets import registry
from bench.errors import DataError, UsageError

SIX = ["adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har"]


def test_all_stands_for_the_six_of_the_paper() -> None:
    assert registry.names(all_only=True) == SIX
    assert registry.names() == [*SIX, "weather"]


def test_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown dataset 'ptbxl'. Did you mean 'ptb-xl'\?"):
        registry.facts("ptbxl")


def test_name_registered_twice_is_refused() -> None:
    twice = [registry.DatasetEntry("ptb", "one"), registry.DatasetEntry("ptb", "two")]
    with pytest.raises(DataError, match="dataset 'ptb' is registered twice: by one and two"):
        registry._table(twice)


def test_file_that_lacks_a_part_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("half_a_dataset")
    module.__dict__.update(__file__="half_a_dataset.py", FACTS=None, REVISION=1)
    monkeypatch.setitem(sys.modules, "half_a_dataset", module)
    monkeypatch.setitem(registry._TABLE, "half", registry.DatasetEntry("half", "half_a_dataset"))
    with pytest.raises(DataError, match=r"half_a_dataset.py: a dataset's file must define records, cut"):
        registry.reader("half")
