"""The ablation's table, figure and bars: what stands in them, what is published, what is missing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.paper.scale import Verdict
from bench.render.formats import to_markdown
from bench.render.table import Cell, Row
from bench.report.figures.ablation_bars import ablation_bars
from bench.report.figures.ablation_dots import ablation_figure
from bench.report.judges.ablation_claims import AblationJudge
from bench.report.tables.ablation_table import ablation_table
from bench.results.record import Record
from bench.results.store import read_all
from bench.studies.ablation_differences import Ablation, read_ablation
from bench.studies.aggregate import compare
from bench.studies.suite import Study, Suite, make_suites
from tests.report.grids import ABLATIONS, Grid, write_grid
from tests.report.ledger import claim

SINGLE = "medmamba-single-scale"


def ablation(out: Path, dataset: str) -> Ablation:
    (suite,) = make_suites(compare(read_all(out)[0]))
    study = suite.study(dataset)
    assert study is not None
    found = read_ablation(out, study)
    assert found is not None
    return found


def rows(out: Path, dataset: str, model: str) -> dict[str, Row]:
    table = ablation_table(ablation(out, dataset), "a")
    block = next(one for one in table.blocks if one.heading.startswith(f"{model} ("))
    return {row.label: row for row in block.rows}


def test_table_is_the_papers_with_ours_beside_it(full: Path) -> None:
    table = ablation_table(ablation(full, "adftd"), "a")
    assert [block.heading for block in table.blocks[:4]] == [
        "medmamba (MS yes, Bi yes, CM yes)",
        "medmamba-single-scale (MS no, Bi yes, CM yes)",
        "medmamba-unidirectional (MS yes, Bi no, CM yes)",
        "medmamba-no-channel-mixing (MS yes, Bi yes, CM no)",
    ]
    assert [row.label for row in table.blocks[0].rows] == [
        "Accuracy", "F1", "Precision", "Recall", "AUROC", "AUPRC",
    ]  # fmt: skip
    assert table.groups == (("measured here", 2), ("published, not measured here", 2))


def test_published_rows_have_their_differences_in_brackets(full: Path) -> None:
    score, drop = rows(full, "adftd", SINGLE)["Accuracy"].cells[2:]
    assert (score.mean, score.std) == (51.96, 0.55)
    assert (drop.mean, drop.text) == (-2.76, "(-2.76)")
    assert rows(full, "adftd", "medmamba")["Accuracy"].cells[2].mark == "best"


def test_measured_differences_are_paired_by_seed_and_in_brackets(full: Path) -> None:
    groups = ablation(full, "adftd").groups
    pairs = zip(groups[SINGLE].records, groups["medmamba"].records, strict=True)
    values = [100 * (a.metrics.test.f1 - b.metrics.test.f1) for a, b in pairs if a.metrics and b.metrics]
    cell = rows(full, "adftd", SINGLE)["F1"].cells[1]
    assert cell.mean == pytest.approx(np.mean(values))
    assert cell.std == pytest.approx(np.std(values, ddof=1))
    assert cell.low is not None
    assert cell.text == f"({cell.mean:+.2f}±{cell.std:.2f} [{cell.low:+.2f}, {cell.high:+.2f}])"
    markdown = to_markdown(ablation_table(ablation(full, "adftd"), "a"))
    assert str(cell.text).replace("[", r"\[").replace("]", r"\]") in markdown


def test_intervals_hold_the_differences_of_the_recorded_scores(full: Path) -> None:
    for label, row in rows(full, "adftd", SINGLE).items():
        one = row.cells[1]
        assert (one.low is None) == (label == "AUPRC")
        if one.low is not None and one.high is not None and one.mean is not None:
            assert one.low <= one.mean <= one.high


def test_best_measured_score_is_bold(full: Path) -> None:
    models = ("medmamba", *ABLATIONS)
    found = {model: rows(full, "adftd", model)["F1"].cells[0] for model in models}
    best = max(found, key=lambda model: found[model].mean or 0.0)
    assert [model for model in models if found[model].mark == "best"] == [best]


def test_without_published_numbers_there_is_no_column_of_them(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",)))
    assert ablation_table(ablation(tmp_path, "ptb"), "a").columns == ("score", "(difference)")


def test_lost_predictions_leave_the_difference_without_its_interval(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",)))
    for path in tmp_path.glob(f"cells/ptb/{SINGLE}/*/predictions.npz"):
        path.unlink()
    cell = rows(tmp_path, "ptb", SINGLE)["F1"].cells[1]
    assert (cell.mean is None, cell.low) == (False, None)
    notes = ablation_table(ablation(tmp_path, "ptb"), "a").footnotes
    assert any("no such file, though the record names it" in note for note in notes)
    assert rows(tmp_path, "ptb", "medmamba-unidirectional")["F1"].cells[1].low is not None


def test_a_failed_seed_leaves_a_dash_and_the_difference_of_the_others(tmp_path: Path) -> None:
    grid = Grid(
        models=("medmamba", *ABLATIONS), datasets=("ptb",), seeds=(41, 42, 43),
        failed=frozenset({(SINGLE, "ptb", 42)}),
    )  # fmt: skip
    write_grid(tmp_path, grid)
    score, difference = rows(tmp_path, "ptb", SINGLE)["F1"].cells
    assert score.is_empty
    assert difference.mean is not None
    notes = ablation_table(ablation(tmp_path, "ptb"), "a").footnotes
    assert f"{SINGLE} on PTB: seed 42 timeout" in notes
    assert f"difference of {SINGLE} over the seeds that both models have: 41, 43" in notes


def test_bars_leave_out_a_model_that_lacks_a_seed(tmp_path: Path) -> None:
    write_grid(
        tmp_path,
        Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",), failed=frozenset({(SINGLE, "ptb", 42)})),
    )
    figure = ablation_bars(ablation(tmp_path, "ptb"), "a")
    assert figure is not None
    assert SINGLE not in figure.alt
    assert f"Left out: {SINGLE} on PTB: seed 42 timeout" in figure.caption


def test_reduced_models_alone_have_a_table_without_differences(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=ABLATIONS, datasets=("ptb",)))
    comparison = compare(read_all(tmp_path)[0])[0]
    found = read_ablation(tmp_path, Study(comparison))
    assert found is not None
    assert ablation_figure(found, "a") is None
    cells = ablation_table(found, "a").blocks[0].rows[0].cells
    assert (cells[0].mean is None, cells[1]) == (False, Cell(note=1))


def test_without_reduced_models_there_is_none(full: Path) -> None:
    (suite,) = make_suites(compare(read_all(full)[0]))
    ptb = suite.study("ptb")
    assert ptb is not None
    assert read_ablation(full, ptb) is None


def test_bars_are_published_beside_measured_on_adftd_only(full: Path, tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", *ABLATIONS), datasets=("ptb",)))
    adftd, ptb = (
        ablation_bars(ablation(full, "adftd"), "a"), ablation_bars(ablation(tmp_path, "ptb"), "a"),
    )  # fmt: skip
    assert adftd is not None
    assert ptb is not None
    assert "Hatched: published in the MedMamba paper" in adftd.caption
    assert "Hatched" not in ptb.caption
    assert len(adftd.draw().axes[0].containers) == 2 * len(ptb.draw().axes[0].containers)


def with_losses(records: list[Record], losses: dict[int, float]) -> Suite:
    """Return a suite in which the unidirectional model's F1 is lower than the full one's by so many points a seed."""
    changed = []
    for record in records:
        assert record.metrics is not None
        loss = losses[record.cell.seed] if record.cell.model == "medmamba-unidirectional" else 0.0
        test = record.metrics.test.model_copy(update={"f1": 0.5 - loss / 100})
        metrics = record.metrics.model_copy(update={"test": test})
        changed.append(record.model_copy(update={"metrics": metrics}))
    return make_suites(compare(changed))[0]


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ((0.58, 0.62, 0.6, 0.59, 0.61), Verdict.SUPPORTED),
        ((1.0, -2.0, 1.5, -2.0, 1.0), Verdict.UNDECIDED),
        ((-1.0, -1.2, -1.1, -1.0, -1.2), Verdict.CONTRADICTED),
        ((5.0, 5.1, 5.2, 5.0, 5.1), Verdict.CONTRADICTED),
    ],
    ids=["as stated", "either way", "of the other sign", "of another size"],
)
def test_a_stated_loss_is_judged_by_its_sign_and_its_size(
    tmp_path: Path, losses: tuple[float, ...], verdict: Verdict
) -> None:
    seeds = (41, 42, 43, 44, 45)
    grid = Grid(models=("medmamba", *ABLATIONS), datasets=("adftd",), seeds=seeds, n_epochs=1)
    suite = with_losses(write_grid(tmp_path, grid), dict(zip(seeds, losses, strict=True)))
    both = claim("unidirectional-loss")
    ruling = AblationJudge(suite)(replace(both, check=both.check["checks"][0]))
    assert ruling is not None
    assert ruling.verdict is verdict
