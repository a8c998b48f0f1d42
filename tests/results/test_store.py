"""The store: records are whole or absent, and damage is seen."""

import json
import os
from pathlib import Path

import pytest

from bench.errors import BenchError, RecordError
from bench.files import atomic_file, sha256_of
from bench.results.record import (
    CellName,
    ClassScores,
    Environment,
    Failure,
    Metrics,
    Record,
    Scores,
    Timing,
)
from bench.results.store import (
    CellFolder,
    NewerSchemaError,
    find_record,
    quarantine_damaged,
    read_all,
    read_record,
    require_writable,
    write_record,
)
from tests.plan.test_cell import make_cell

NAME = CellName(model="transformer", dataset="ptb-xl", seed=41, recipe="published")


def make_record(folder: CellFolder, key: str) -> Record:
    cell = make_cell()
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.predictions.write_bytes(b"numbers")
    folder.weights.write_bytes(b"weights")
    return Record(
        schema=1,
        key=key,
        cell=NAME,
        settings=cell.settings.model_dump(mode="json"),
        revisions=cell.revisions,
        outcome="ok",
        metrics=Metrics(val=made_scores(0.5), test=made_scores(0.5)),
        timing=Timing(started="2026-01-01T00:00:00+00:00", total_s=1.0),
        environment=Environment(
            device="cpu",
            device_name="c",
            threads=1,
            precision="float32",
            deterministic=True,
            scan_backend=None,
            platform="p",
            versions={},
        ),
        data=cell.data.description,
        files={path.name: sha256_of(path) for path in (folder.predictions, folder.weights)},
    )


def made_scores(f1: float) -> Scores:
    per_class = {"x": ClassScores(precision=f1, recall=f1, f1=f1, auroc=None, auprc=None, support=2)}
    return Scores(
        accuracy=f1,
        precision=f1,
        recall=f1,
        f1=f1,
        auroc=None,
        auprc=None,
        loss=1.0,
        n_windows=2,
        n_subjects=1,
        per_class=per_class,
    )


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, CellFolder, str]:
    key = make_cell().key
    folder = CellFolder.of(tmp_path, NAME, key)
    write_record(folder, make_record(folder, key))
    return tmp_path, folder, key


def test_a_record_survives_the_way_to_the_disk(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    found = find_record(out, NAME, key)
    assert found == make_record(folder, key)
    assert json.loads(folder.record.read_text())["schema"] == 1


def test_the_folder_is_named_as_designed(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    assert folder.path == out / "cells" / "ptb-xl" / "transformer" / f"published-s41-{key[:12]}"


@pytest.mark.parametrize("name", ["record.json", "predictions.npz"])
def test_a_truncated_file_makes_the_cell_undone(stored: tuple[Path, CellFolder, str], name: str) -> None:
    out, folder, key = stored
    os.truncate(folder.path / name, 5)
    assert find_record(out, NAME, key) is None


def test_a_missing_file_makes_the_cell_undone(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    folder.predictions.unlink()
    assert find_record(out, NAME, key) is None


def test_a_damaged_record_is_set_aside_once(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    os.truncate(folder.record, 5)
    assert quarantine_damaged(out, NAME, key) == [folder.path / "damaged-1-record.json"]
    assert not folder.record.exists()
    assert quarantine_damaged(out, NAME, key) == []


def test_a_valid_record_is_never_set_aside(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    assert quarantine_damaged(out, NAME, key) == []
    assert folder.record.exists()


def test_a_newer_schema_is_neither_read_nor_touched(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, key = stored
    content = folder.record.read_text().replace('"schema": 1', '"schema": 2')
    folder.record.write_text(content)
    for look in (
        lambda: read_record(folder.record),
        lambda: find_record(out, NAME, key),
    ):
        with pytest.raises(NewerSchemaError, match="schema 2 is newer than this version's 1; upgrade"):
            look()
    records, damaged = read_all(out)
    assert (records, [type(error) for error in damaged]) == ([], [NewerSchemaError])
    assert folder.record.read_text() == content


def test_an_unknown_field_is_an_error_that_names_it(stored: tuple[Path, CellFolder, str]) -> None:
    _, folder, _ = stored
    content = json.loads(folder.record.read_text()) | {"mood": "good"}
    folder.record.write_text(json.dumps(content))
    with pytest.raises(RecordError, match="field 'mood'"):
        read_record(folder.record)


ERROR = Failure(kind="ValueError", message="no")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": None}, "outcome ok, but no metrics"),
        ({"files": {}}, r"outcome ok, but no predictions\.npz"),
        ({"files": {"predictions.npz": "0" * 64}}, r"outcome ok, but no weights\.safetensors"),
        ({"error": ERROR}, "outcome ok, but an error"),
        ({"outcome": "failed", "metrics": None}, "outcome failed, but no error"),
        ({"outcome": "failed", "error": ERROR}, "outcome failed, but metrics"),
    ],
)
def test_a_record_that_contradicts_its_outcome_is_none(
    stored: tuple[Path, CellFolder, str], change: dict, message: str
) -> None:
    out, folder, key = stored
    write_record(folder, read_record(folder.record).model_copy(update=change))
    with pytest.raises(RecordError, match=f"as a whole: .*{message}"):
        read_record(folder.record)
    assert find_record(out, NAME, key) is None


def test_reading_all_goes_on_past_a_damaged_record(stored: tuple[Path, CellFolder, str]) -> None:
    out, folder, _ = stored
    other = CellFolder.of(out, NAME.model_copy(update={"seed": 42}), "ab" * 32)
    record = make_record(other, "ab" * 32)
    write_record(other, record.model_copy(update={"cell": NAME.model_copy(update={"seed": 42})}))
    os.truncate(folder.record, 5)
    records, damaged = read_all(out)
    assert [record.key for record in records] == ["ab" * 32]
    assert "not readable as a record" in str(damaged[0])


def test_a_failing_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError, match="zero"), atomic_file(path) as temporary:
        temporary.write_bytes(bytes(1 // len(b"")))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_an_unwritable_folder_is_refused_before_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchError, match="choose a folder that can be written"):
        require_writable(tmp_path / "file" / "out")


def test_looking_whether_a_folder_can_be_written_leaves_nothing_in_it(tmp_path: Path) -> None:
    require_writable(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
