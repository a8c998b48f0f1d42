"""A training of equal key under another recipe's name is taken over, and nothing else is."""

import os
from pathlib import Path

import pytest

from bench.results.record import Failure, Record
from bench.results.store import CellFolder, find_record, write_record
from bench.results.twins import find_twin, take_over
from tests.results.test_store import NAME, make_record

KEY = "ab" * 32
OTHER = NAME.model_copy(update={"recipe": "medformer"})


@pytest.fixture
def twin(tmp_path: Path) -> Record:
    """A finished cell of the recipe ``medformer`` in a results folder."""
    folder = CellFolder.of(tmp_path, OTHER, KEY)
    record = make_record(folder, KEY).model_copy(update={"cell": OTHER})
    folder.log.write_text("epoch 1\n", encoding="utf-8")
    write_record(folder, record)
    return record


def test_the_same_key_under_another_recipe_is_found(tmp_path: Path, twin: Record) -> None:
    assert find_twin(tmp_path, NAME, KEY) == twin
    assert find_twin(tmp_path, OTHER, KEY) is None
    assert find_twin(tmp_path, NAME, "abababababab" + "0" * 52) is None
    assert find_twin(tmp_path, NAME.model_copy(update={"seed": 42}), KEY) is None


def test_a_twin_that_failed_or_is_damaged_is_none(tmp_path: Path, twin: Record) -> None:
    folder = CellFolder.of(tmp_path, OTHER, KEY)
    error = Failure(kind="ValueError", message="no")
    write_record(
        folder, twin.model_copy(update={"outcome": "failed", "metrics": None, "error": error, "files": {}})
    )
    assert find_twin(tmp_path, NAME, KEY) is None
    write_record(folder, twin)
    os.truncate(folder.weights, 1)
    assert find_twin(tmp_path, NAME, KEY) is None


def test_a_cell_gets_all_that_its_twin_has_under_its_own_name(tmp_path: Path, twin: Record) -> None:
    settings = twin.settings | {"recipe": NAME.recipe}
    taken = take_over(tmp_path, twin, NAME, settings)
    assert find_record(tmp_path, NAME, KEY) == taken
    assert (taken.cell, taken.settings["recipe"], taken.metrics) == (NAME, "published", twin.metrics)
    log = CellFolder.of(tmp_path, NAME, KEY).log.read_text(encoding="utf-8")
    assert log == "epoch 1\ntaken over from medformer-s41-abababababab: its key is the same\n"
    assert find_record(tmp_path, OTHER, KEY) == twin


def test_files_are_copied_where_there_are_no_links(
    tmp_path: Path, twin: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    take_over(tmp_path, twin, NAME, twin.settings)
    assert find_record(tmp_path, NAME, KEY) is not None
