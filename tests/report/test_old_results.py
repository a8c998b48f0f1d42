"""A results folder written before the rooms were moved (commit 3b72bbe) renders as it did."""

import json
import shutil
from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.registry import analyses
from bench.report import render
from bench.report.write import Report
from bench.results.store import read_all

OLD = Path(__file__).parents[1] / "golden" / "results_3b72bbe"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("old") / "results"
    shutil.copytree(OLD, out)
    return render(out, out / "report")


def test_nothing_of_it_counts_as_damaged(rendered: Report) -> None:
    assert rendered.damaged == ()


# The probe for subjects came later.
@pytest.mark.parametrize("name", [name for name in analyses() if name not in ("theory", "subject-probe")])
def test_every_analysis_is_read_and_shown(rendered: Report, name: str) -> None:
    records, damaged = store.read(OLD, analyses()[name])
    assert (bool(records), damaged) == (True, [])
    names = {path.name for path in rendered.files}
    shown = analyses()[name].report(OLD, records)
    assert {f"{table.name}.json" for table in shown.tables} <= names
    assert {f"{figure.name}.png" for figure in shown.figures} <= names


def test_scores_are_those_of_the_records(rendered: Report) -> None:
    records, _ = read_all(OLD)
    scores = [r.metrics.test.accuracy for r in records if r.cell.model == "transformer" and r.metrics]
    (path,) = [path for path in rendered.files if path.name == "main-apava.json"]
    table = json.loads(path.read_text(encoding="utf-8"))
    rows = [row for block in table["blocks"] for row in block["rows"] if row["label"] == "transformer"]
    assert rows[0]["cells"][0]["mean"] == pytest.approx(100 * sum(scores) / len(scores))
