"""Every way in which the cell of an estimator can end, through the real workers."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import joblib
import numpy as np
import pytest

from bench.datasets import prepare
from bench.errors import ModelError
from bench.plan.grid import Request, plan
from bench.plan.request import make_request
from bench.results.store import CellFolder, read_all
from bench.results.twins import take_over
from bench.run import pool
from bench.run.cells.fit_cell import fit_cell
from bench.run.job import make_jobs
from bench.run.resources import Resources
from bench.run.run_grid import execute
from tests.run.conftest import Ran

OWN = Path(__file__).with_name("own_estimators.py")

Fit = Callable[..., Ran]


def request(name: str, *sets: str) -> Request:
    return make_request(
        models_text=f"{OWN}:{name}" if name[0].isupper() else name,
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=sets,
    )


@pytest.fixture
def fit(data: Path, tmp_path: Path) -> Fit:
    """Run an estimator by class name, in a folder of the test's, and return outcomes and records."""

    def run(name: str, *sets: str, out: str = "r", **resources: object) -> Ran:
        summary = execute(request(name, *sets), data, tmp_path / out, Resources(device="cpu", **resources))  # type: ignore[arg-type]
        records, damaged = read_all(tmp_path / out)
        assert not damaged
        return Ran(Counter(summary.outcomes), records)

    return run


def test_a_failed_fit_is_a_record_that_is_kept_until_asked_for(fit: Fit) -> None:
    record = fit("Raises").record
    assert (record.outcome, record.fitted_state, record.is_estimator) == ("failed", None, True)
    assert record.error is not None
    assert record.error.message == "mistake 42"
    assert fit("Raises").outcomes == {"failed before": 1}
    assert fit("Raises", retry_failed=True).outcomes == {"failed": 1}


def test_a_fitted_estimator_is_kept_where_asked_for(fit: Fit, tmp_path: Path) -> None:
    """It lies beside the record, which names it; the cell is the same one, and is done either way."""
    kept = fit("dummy", keep_fitted="joblib").record
    bare = fit("dummy", out="bare").record
    assert (kept.fitted_state, bare.fitted_state) == ("fitted.joblib", None)
    assert set(kept.files) - set(bare.files) == {"fitted.joblib"}
    assert (kept.key, kept.metrics, kept.is_estimator) == (bare.key, bare.metrics, True)
    estimator = joblib.load(CellFolder.of(tmp_path / "r", kept.cell, kept.key).fitted("joblib"))
    assert estimator.predict_proba(np.zeros((1, 9, 128), np.float32)).shape == (1, len(kept.data.class_names))
    assert fit("dummy").outcomes == {"already-done": 1}


def test_a_killed_fit_starts_afresh_and_gives_the_same_bytes(fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "graves").mkdir()
    sets = [f"graves='{tmp_path / 'graves'}'", "deaths=1"]
    killed = fit("KillsItself", *sets).record
    assert len(list((tmp_path / "graves").iterdir())) == 1
    undisturbed = fit("KillsItself", *sets, out="calm").record
    assert (killed.outcome, killed.metrics, killed.files) == ("ok", undisturbed.metrics, undisturbed.files)
    assert fit("KillsItself", *sets).outcomes == {"already-done": 1}


def test_a_fit_that_takes_too_long_is_a_timeout(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour passes when the fit has fallen asleep."""

    def an_hour_later() -> float:
        asleep = any("asleep" in log.read_text() for log in tmp_path.rglob("log.txt"))
        return time.monotonic() + 3600 * asleep

    monkeypatch.setattr(pool, "time", mock.Mock(monotonic=an_hour_later, sleep=time.sleep))
    record = fit("Sleeps", cell_timeout=1800.0).record
    assert record.outcome == "timeout"
    assert record.error is not None
    assert "in misbehave" in record.error.traceback


def test_memory_beyond_the_share_is_out_of_memory_at_once(fit: Fit) -> None:
    assert fit("Allocates", "gib=2", memory_bytes=3 << 30).record.outcome == "ok"
    assert fit("Allocates", "gib=2", out="small", memory_bytes=1 << 30).record.outcome == "out-of-memory"


def test_a_draw_of_windows_is_what_is_fitted(fit: Fit) -> None:
    drawn = fit("Good", "max_train_windows=6").record
    assert drawn.data.n_train_windows_used == 6
    assert drawn.settings["changed"] == ["max_train_windows"]


def test_code_that_changed_after_the_plan_is_refused(data: Path, tmp_path: Path) -> None:
    cells = plan(request("Good"), {"uci-har": prepare("uci-har", data)}, tmp_path)
    (job,) = make_jobs(cells, data, tmp_path, Resources(), "cpu")
    assert job.cell.identity is not None
    changed = mock.patch.dict(job.cell.identity.packages, {"scikit-learn": "0.1"})
    with changed, pytest.raises(ModelError, match=r"own_estimators\.py or what it imports"):
        fit_cell(job)
    assert fit_cell(job)[0].is_done


def test_another_recipes_cell_takes_the_fit_over(fit: Fit, tmp_path: Path) -> None:
    first = fit("Good").record
    other = first.cell.model_copy(update={"recipe": "equal"})
    taken = take_over(tmp_path / "r", first, other, first.settings)
    folder = CellFolder.of(tmp_path / "r", other, taken.key)
    assert taken.metrics == first.metrics
    assert folder.predictions.is_file()
    assert not folder.weights.exists()
    with np.load(folder.predictions) as arrays:
        assert np.isfinite(arrays["logits"]).all()


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", ["stub_series.distance:Nearest", "nearest"], ids=["named", "entry point"])
def test_a_class_with_aeons_interface_is_a_cell(data: Path, tmp_path: Path, name: str) -> None:
    """The package that has the class is in the key; an entry point's whole source is."""
    cells = plan(request(name, "power=1"), {"uci-har": prepare("uci-har", data)}, tmp_path)
    (job,) = make_jobs(cells, data, tmp_path, Resources(), "cpu")
    record, _ = fit_cell(job)
    assert record.metrics is not None
    assert record.metrics.test.f1 > 0.3
    assert record.settings["hyperparameters"] == {"power": 1.0}
    assert record.revisions["packages"] == "stub-series 1.2"
    assert record.model_spec == (name if ":" in name else None)
