"""The ablation's intervals and bars: what stands in them, what is published, what is missing."""

from pathlib import Path

from bench.reports.ablation_bars import ablation_bars
from bench.reports.ablation_intervals import ablation_intervals
from bench.reports.suite import Study, make_suites
from bench.results.aggregate import compare
from bench.results.store import read_all
from tests.reports.grids import ABLATIONS, Grid, write_grid


def study(out: Path, dataset: str) -> Study:
    (suite,) = make_suites(compare(read_all(out)[0]))
    found = suite.study(dataset)
    assert found is not None
    return found


def test_every_metric_but_auprc_has_an_interval(full: Path) -> None:
    table = ablation_intervals(full, study(full, "adftd"), "a")
    assert table is not None
    measured = table.blocks[0]
    assert [row.label for row in measured.rows] == [
        "medmamba-single-scale",
        "medmamba-unidirectional",
        "medmamba-no-channel-mixing",
    ]
    for row in measured.rows:
        assert [cell.low is not None for cell in row.cells] == [True] * 5 + [False]


def test_estimate_is_the_difference_of_the_recorded_scores(full: Path) -> None:
    one = study(full, "adftd")
    table = ablation_intervals(full, one, "a")
    assert table is not None
    groups = {group.model: group for group in one.comparison.groups}
    for column, metric in ((3, "f1"), (4, "auroc")):
        reduced, whole = (groups[name].score(metric) for name in ("medmamba-single-scale", "medmamba"))
        assert reduced is not None
        assert whole is not None
        found = table.blocks[0].rows[0].cells[column].mean
        assert found is not None
        assert abs(found - 100 * (reduced.mean - whole.mean)) < 1e-6


def test_published_drops_are_negative_differences(full: Path) -> None:
    table = ablation_intervals(full, study(full, "adftd"), "a")
    assert table is not None
    assert [cell.mean for cell in table.blocks[1].rows[0].cells][:5] == [-2.76, -1.83, -1.71, -1.76, -1.90]


def test_lost_predictions_become_a_footnote(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",)))
    for path in tmp_path.glob("cells/ptb/medmamba-single-scale/*/predictions.npz"):
        path.unlink()
    table = ablation_intervals(tmp_path, study(tmp_path, "ptb"), "a")
    assert table is not None
    assert all(cell.mean is None for cell in table.blocks[0].rows[0].cells)
    assert table.blocks[0].rows[1].cells[0].mean is not None
    assert any("no such file, though the record names it" in note for note in table.footnotes)


def test_without_reduced_models_there_is_neither(full: Path) -> None:
    assert ablation_intervals(full, study(full, "ptb"), "a") is None
    assert ablation_bars(study(full, "ptb"), "a") is None


def test_bars_are_published_beside_measured_on_adftd_only(full: Path, tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",)))
    adftd, ptb = ablation_bars(study(full, "adftd"), "a"), ablation_bars(study(tmp_path, "ptb"), "a")
    assert adftd is not None
    assert ptb is not None
    assert "Hatched: published in the MedMamba paper" in adftd.caption
    assert "Hatched" not in ptb.caption
    assert len(adftd.draw().axes[0].containers) == 2 * len(ptb.draw().axes[0].containers)
