"""The demo's cohorts can be learned: models beat a guess by 20 points, and the intervals say so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.datasets.simulate.cohort import demo_root, ensure_demo
from bench.plan.request import make_request
from bench.results.store import read_all
from bench.run.resources import Resources
from bench.run.run_grid import execute
from bench.studies.above_chance import points_above_chance
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.suite import make_suites

POINTS = 20.0


def trained(out: Path, models: str, datasets: str, jobs: int) -> dict[str, dict[str, float | None]]:
    """Train the demo's cells; return by dataset and model the least points above chance."""
    request = make_request(
        models_text=models,
        datasets_text=datasets,
        seeds_text=None,
        preset_name="demo",
        recipe_name=None,
        assignments=(),
    )
    for name in request.datasets:
        ensure_demo(name)
    execute(request, demo_root(), out, Resources(jobs=jobs))
    records, damaged = read_all(out)
    assert not damaged
    (suite,) = make_suites(compare(records))
    return {study.dataset: points_above_chance(read_predicted(out, study)) for study in suite.studies}


def above(margins: dict[str, float | None]) -> Sequence[str]:
    return [model for model, points in margins.items() if points is not None and points >= POINTS]


@pytest.mark.usefixtures("cache")
def test_medmamba_and_another_are_surely_above_chance(tmp_path: Path) -> None:
    margins = trained(tmp_path, "medmamba,itransformer", "adftd", jobs=1)
    assert sorted(above(margins["adftd"])) == ["itransformer", "medmamba"]


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_medmamba_and_eight_others_are_surely_above_chance_on_all_datasets(tmp_path: Path) -> None:
    margins = trained(tmp_path, "all", "all", jobs=2)
    assert len(margins) == 6
    for dataset, of_dataset in margins.items():
        models = above(of_dataset)
        assert "medmamba" in models, dataset
        assert len(models) >= 9, (dataset, of_dataset)
