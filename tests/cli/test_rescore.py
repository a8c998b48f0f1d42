"""``bench rescore``: missing scores come back from saved predictions, and what does not fit is named and left."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.files import sha256_of
from bench.results.record import Record
from bench.results.store import CellFolder, read_all
from tests.cli.conftest import Bench
from tests.report.grids import Grid, write_grid


@pytest.fixture
def cells(tmp_path: Path) -> list[tuple[Path, Record]]:
    """The records of two cells in ``r``, with their paths; the first was written before AUPRC was known."""
    records = write_grid(tmp_path / "r", Grid(models=("medmamba",), datasets=("ptb",)))
    found = [(CellFolder.of(tmp_path / "r", record.cell, record.key).record, record) for record in records]
    content = read(found[0][0])
    content["metrics"]["test"]["auprc"] = None
    for scores in content["metrics"]["test"]["per_class"].values():
        scores["auprc"] = None
    del content["rescored"]
    found[0][0].write_text(json.dumps(content), encoding="utf-8")
    return found


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_missing_score_comes_back_and_all_else_stays(
    bench: Bench, cells: list[tuple[Path, Record]], tmp_path: Path
) -> None:
    (_, before), (other, _) = cells
    untouched = other.read_bytes()
    done = bench("rescore", "r")
    assert done.code == 0, done.err
    assert "medmamba / ptb / seed 41 / published: auprc, 2 of single classes" in done.out
    records, _ = read_all(tmp_path / "r")
    after = next(record for record in records if record.key == before.key)
    assert after.metrics == before.metrics
    assert after.rescored is not None
    assert after.rescored.filled[0] == "auprc"
    assert after.model_copy(update={"rescored": None}) == before
    assert other.read_bytes() == untouched
    assert "2 finished cells, 0 filled, 0 left for an error" in bench("rescore", "r").out


def test_dry_run_writes_nothing(bench: Bench, cells: list[tuple[Path, Record]]) -> None:
    (path, _), _ = cells
    before = path.read_bytes()
    assert "1 would be filled" in bench("rescore", "r", "--dry-run").out
    assert path.read_bytes() == before


def test_a_damaged_predictions_file_is_named_and_its_record_left(
    bench: Bench, cells: list[tuple[Path, Record]]
) -> None:
    (path, _), _ = cells
    before = path.read_bytes()
    path.with_name("predictions.npz").write_bytes(b"nothing")
    done = bench("rescore", "r")
    assert done.code == 1
    assert (
        f"left: {Path('r') / path.relative_to(Path('r').resolve()).with_name('predictions.npz')}" in done.err
    )
    assert path.read_bytes() == before


def test_predictions_that_give_other_scores_are_named_and_their_record_left(
    bench: Bench, cells: list[tuple[Path, Record]]
) -> None:
    (path, _), _ = cells
    predictions = path.with_name("predictions.npz")
    arrays = dict(np.load(predictions))
    np.savez(predictions, **(arrays | {"logits": -arrays["logits"]}))
    content = read(path)
    content["files"]["predictions.npz"] = sha256_of(predictions)
    path.write_text(json.dumps(content), encoding="utf-8")
    before = path.read_bytes()
    done = bench("rescore", "r")
    assert done.code == 1
    assert "its predictions give other scores than it has" in done.err
    assert "2 finished cells, 0 filled, 1 left for an error" in done.out
    assert path.read_bytes() == before


def test_a_folder_without_records_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    assert bench("rescore", "r").code == 2
