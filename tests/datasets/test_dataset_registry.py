"""The table of datasets: names, near misses, doubles, and what a dataset's file must define."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from bench.datasets import registry
from bench.datasets.cache.entry import dataset_folder
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


DESCRIPTION = (
    'name = "mine"\ntitle = "t"\nclass_names = ["a", "b"]\nchannel_names = ["x"]\nsampling_rate_hz = 1.0\n'
)


def test_neighbour_that_cannot_be_looked_into_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lost+found", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "dataset.toml").write_text(DESCRIPTION)
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    look = Path.stat

    def look_or_refuse(self: Path, **options: bool) -> os.stat_result:
        if self.parent.name == "lost+found":
            raise PermissionError(13, "Permission denied")
        return look(self, **options)

    monkeypatch.setattr(Path, "stat", look_or_refuse)
    assert registry.register_imported(tmp_path) == ["mine"]


def test_folder_that_cannot_be_listed_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match="permission denied; get permission to read it"):
        registry.register_imported(tmp_path)


@pytest.mark.parametrize("root", ["~nosuchuser", "a\x00b", "x" * 300])
def test_root_that_cannot_be_is_one_line(root: str) -> None:
    with pytest.raises(DataError) as caught:
        dataset_folder("ptb", root)
    assert "\n" not in str(caught.value)


def test_classes_that_share_a_name_are_refused() -> None:
    known = registry.facts("apava")
    with pytest.raises(DataError, match="apava: two classes are named ' HEALTHY'"):
        replace(known, class_names=("healthy", " HEALTHY"))
