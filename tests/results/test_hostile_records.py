"""A record from a stranger is checked in every field; a bad one is left out by name, and costs no other."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.errors import RecordError
from bench.files import sha256_of
from bench.plan.planned import read_planned
from bench.results.predictions import load_predictions
from bench.results.record import CellName
from bench.results.store import find_record, quarantine_damaged, read_all, require_writable
from bench.run.status import cell_statuses
from tests.report.grids import Grid, write_grid
from tests.results.fuzzing import KINDS, MARKUP, run, run_kind

SEEDS = (41, 42)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two cells; tests damage the first."""
    results = tmp_path / "results"
    write_grid(results, Grid(models=("transformer",), datasets=("ptb",), seeds=SEEDS, n_epochs=1))
    return results


def first_of(out: Path) -> Path:
    """Return the path of the first record."""
    return min(out.rglob("record.json"))


def change(path: Path, where: str, value: Any) -> None:
    """Replace one value of a JSON file, named by dots."""
    content = json.loads(path.read_text(encoding="utf-8"))
    *way, last = where.split(".")
    holder = content
    for name in way:
        holder = holder[name]
    holder[last] = value
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("cell.dataset", "../../../climbed", "field 'cell.dataset': '../../../climbed' is no name"),
        ("cell.model", MARKUP, "field 'cell.model': .* is no name"),
        ("cell.recipe", "a/b", "field 'cell.recipe'"),
        ("cell.seed", -1, "field 'cell.seed'"),
        ("environment.device", "../x", "field 'environment.device'"),
        ("data.title", "red \x1b[31m", "field 'data.title': .* has control characters"),
        ("data.class_names", ["a", "A"], "two classes are named 'A'"),
        ("data.class_names", ["a", "b", "c"], "3 classes, but the train part counts 2"),
        ("data.parts.test.n_windows", 71, "71 windows, but 72 in its classes"),
        ("data.parts", {}, "no train part"),
        ("data.n_times", 0, "field 'data.n_times'"),
        ("metrics.test.f1", 1.5, "field 'metrics.test.f1'"),
        ("metrics.val.accuracy", -0.1, "field 'metrics.val.accuracy'"),
        ("metrics.test.n_windows", 2**70, "not readable as a record .the number .* is too large"),
        ("metrics.test.loss", float("inf"), "not readable as a record .Infinity is no number"),
        ("files", {"../../passwd": "0" * 64}, "field 'files"),
        ("settings.training", {}, "'training._Training.epochs': Field required"),
        ("settings.changed", ["nothing"], "names 'nothing', which is no setting"),
        ("settings.origins", [], "'origins'"),
        ("revisions", {}, "no revision of the model"),
    ],
)
def test_a_field_that_cannot_be_is_named(out: Path, where: str, value: Any, message: str) -> None:
    path = first_of(out)
    change(path, where, value)
    records, damaged = read_all(out)
    assert len(records) == len(SEEDS) - 1
    (error,) = damaged
    with pytest.raises(RecordError, match=message):
        raise error
    assert str(path) in str(error)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"[" * 5000, "nested deeper"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested deeper"),
        (b'{"key": ' + b"9" * 5000 + b"}", "too large"),
        (b'{"key": 1e999}', "too large"),
        (b'{"key": NaN}', "NaN is no number"),
        (b'{"key": "\\ud800"}', "surrogates not allowed"),
        (b"\xff\xfe", "can't decode"),
        (b"", "Expecting value"),
        (b'{"schema": 2}', "schema 2 is newer"),
    ],
)
def test_json_that_no_record_has_is_one_line(out: Path, raw: bytes, message: str) -> None:
    first_of(out).write_bytes(raw)
    records, (error,) = read_all(out)
    assert len(records) == len(SEEDS) - 1
    assert message in str(error)
    assert str(error).isprintable()


def test_a_record_in_another_cells_folder_is_refused(out: Path) -> None:
    first, second = sorted(out.rglob("record.json"))
    shutil.copyfile(second, first)
    records, (error,) = read_all(out)
    assert [record.cell.seed for record in records] == [42]
    assert f"{first}: is the record of cells/ptb/transformer/published-s42-" in str(error)


def _folder(path: Path) -> None:
    path.mkdir()


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [_folder, _circle, _device, os.mkfifo], ids=lambda put: put.__name__)
def test_all_commands_agree_on_what_is_no_record(out: Path, put: Callable[[Path], None]) -> None:
    path = first_of(out)
    path.unlink()
    put(path)
    said = f"{path}: not readable as a record"
    (status,) = [cell for cell in cell_statuses(out) if cell.ending == "damaged"]
    assert status.note.startswith(said)
    for words in (["compare", str(out), str(out)], ["status", "--out", str(out)]):
        result = CliRunner().invoke(main, words)
        assert [said in line for line in result.output.splitlines()].count(True) == 1
        assert result.exception is None or isinstance(result.exception, SystemExit)
    name = CellName(model="transformer", dataset="ptb", seed=41, recipe="published")
    whole_key = path.parent.name.rpartition("-")[2].ljust(64, "0")
    assert find_record(out, name, whole_key) is None
    assert [aside.name for aside in quarantine_damaged(out, name, whole_key)] == ["damaged-1-record.json"]
    assert not os.path.lexists(path)


@pytest.mark.parametrize("command", ["status", "report", "compare", "pack"])
def test_a_file_in_place_of_the_cells_is_one_line(out: Path, command: str) -> None:
    shutil.rmtree(out / "cells")
    (out / "cells").write_text("no folder")
    where = [str(out), str(out)] if command == "compare" else ["--out", str(out)]
    result = CliRunner().invoke(main, [command, *where])
    assert result.exit_code == 2
    assert result.output.startswith(f"error: {out / 'cells'}: cannot be listed (not a directory)")
    assert len(result.output.splitlines()) == 1
    with pytest.raises(RecordError, match="cannot be listed"):
        require_writable(out)


@pytest.mark.parametrize("raw", [b"[" * 5000, b'[{"cell": 1}]', b"\xff", b'[{"cell": {"model": "../x"}}]'])
def test_a_list_of_planned_cells_is_no_more_trusted(out: Path, raw: bytes) -> None:
    (out / "planned.json").write_bytes(raw)
    with pytest.raises(RecordError, match=r"planned\.json: damaged") as caught:
        read_planned(out)
    assert str(caught.value).isprintable()


def test_predictions_larger_than_the_test_part_are_not_inflated(out: Path) -> None:
    path = first_of(out)
    predictions = path.with_name("predictions.npz")
    np.savez_compressed(predictions, logits=np.zeros((10**6, 2), np.float32), label=np.zeros(1, int))
    change(path, "files", json.loads(path.read_text())["files"] | {"predictions.npz": sha256_of(predictions)})
    (record, _), _ = read_all(out)
    with pytest.raises(
        RecordError, match=r"not readable as predictions \(\d+ bytes, at most \d+ are expected"
    ):
        load_predictions(out, record)


def test_predictions_of_other_windows_than_the_record_counts_are_refused(out: Path) -> None:
    change(
        first_of(out), "data.parts.test", {"n_subjects": 12, "n_windows": 72, "windows_per_class": [30, 42]}
    )
    (record, _), _ = read_all(out)
    with pytest.raises(RecordError, match="has 36 windows of class 'healthy control', expected 30"):
        load_predictions(out, record)


def test_mutated_results_folders_never_cost_the_report(tmp_path: Path) -> None:
    outcomes = run(11, 20, tmp_path)
    assert outcomes["wrong"] == []
    assert outcomes["left out"] > 8


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    outcomes = run_kind(kind, 11, 60, tmp_path)
    assert outcomes["wrong"] == []
    assert outcomes["refused"] > 30
    # A pack is refused unless the damage has left every byte as it was.
    assert kind != "pack" or outcomes["read"] < 5
