"""``bench export``: the same scores in each format; a package that is not there is named."""

import importlib.util
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from bench.cli import main
from bench.report.exports import FORMATS
from bench.results.store import read_all
from bench.studies.tidy import as_csv, as_frame, tidy_rows


def exported(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


def test_csv_has_the_rows_of_all_records(partial: Path, tmp_path: Path) -> None:
    done = exported(partial, "--to", tmp_path / "scores.csv")
    assert done.output == f"{tmp_path / 'scores.csv'}: 132 rows of 11 cells\n"
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8") == as_csv(tidy_rows(read_all(partial)[0]))


@pytest.mark.parametrize(("name", "package"), [("parquet", "pyarrow"), ("mlflow", "mlflow")])
def test_a_format_whose_package_is_not_there_is_refused(
    name: str, package: str, partial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda asked: None if asked == package else find(asked))
    done = exported(partial, "--format", name, "--to", tmp_path / "target")
    assert done.exit_code == 2
    assert f"{package} is not installed; pip install 'medmamba-bench[{name}]'" in done.output
    assert not (tmp_path / "target").exists()


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    done = exported(tmp_path, "--to", tmp_path / "cells.csv")
    assert done.exit_code == 2
    assert "no record of a finished cell" in done.output
    assert not (tmp_path / "cells.csv").exists()


def test_the_command_offers_every_format() -> None:
    assert all(name in exported("--help").output for name in FORMATS)


def test_parquet_has_the_same_frame(partial: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    assert exported(partial, "--format", "parquet", "--to", tmp_path / "p").exit_code == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "p"), as_frame(tidy_rows(read_all(partial)[0])), check_dtype=False
    )


@pytest.mark.filterwarnings("ignore::Warning:mlflow")
def test_mlflow_has_a_run_for_each_record_once(
    partial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    folder = tmp_path / "mlruns"
    first, second = (exported(partial, "--format", "mlflow", "--to", folder).output for _ in range(2))
    assert first == f"{folder}: 11 new runs, 0 that were there\n"
    assert second == f"{folder}: 0 new runs, 11 that were there\n"
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports] an extra

    client = MlflowClient(tracking_uri=folder.as_uri())
    runs: Iterable = client.search_runs([found.experiment_id for found in client.search_experiments()])
    by_key = {run.data.tags["key"]: run for run in runs}
    for record in read_all(partial)[0]:
        run = by_key[record.key]
        assert run.data.params["model"] == record.cell.model
        assert run.info.status == ("FINISHED" if record.is_done else "FAILED")
        if record.metrics is not None:
            assert run.data.metrics["test_f1"] == pytest.approx(record.metrics.test.f1)
            steps = [metric.step for metric in client.get_metric_history(run.info.run_id, "epoch_val_f1")]
            assert steps == [epoch.epoch for epoch in record.history]
