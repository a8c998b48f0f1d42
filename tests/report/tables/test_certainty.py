"""What the report concludes: nothing from one seed, nothing of equal models, the leader where there is one."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.render.table import Table
from bench.report.contents import read_contents
from bench.report.section import in_brief
from bench.report.tables.headline import headline
from bench.report.tables.main_results import main_results
from bench.report.tables.significance import paired_table
from bench.results.record import CellName
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.suite import Suite, make_suites
from tests.report import grids
from tests.report.grids import CLASSES, Grid, TestPart, write_grid

SEEDS = (41, 42, 43, 44, 45)
PTB = Grid(
    recipe="medmamba",
    models=("medmamba", "patchtst"),
    datasets=("ptb",),
    seeds=SEEDS,
    sizes={"ptb": (61, 30)},
)


def suite_of(out: Path) -> Suite:
    (suite,) = make_suites(compare(read_all(out)[0]))
    return suite


def headline_of(out: Path) -> Table:
    suite = suite_of(out)
    return headline(suite, {study.dataset: read_predicted(out, study) for study in suite.studies}, "headline")


def simulate(monkeypatch: pytest.MonkeyPatch, skills: dict[str, float]) -> None:
    """Let every seed of a model be as good as its skill, with a spread between seeds."""

    def logits(name: CellName, part: TestPart) -> NDArray[np.float32]:
        digest = hashlib.sha256(f"{name.model} {name.seed}".encode()).digest()
        rng = np.random.default_rng(list(digest[:8]))
        skill = skills[name.model] + 0.1 * rng.normal()
        n_classes = len(CLASSES[name.dataset])
        noise = rng.normal(size=(len(part.labels), n_classes))
        return (noise + skill * np.eye(n_classes)[part.labels]).astype(np.float32)

    monkeypatch.setattr(grids, "_logits", logits)


def test_two_equally_able_models_end_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate(monkeypatch, {"medmamba": 1.0, "patchtst": 1.0})
    write_grid(tmp_path, PTB)
    assert headline_of(tmp_path).rows[0].cells[7].text == "undecided"
    suite = suite_of(tmp_path)
    table = paired_table(suite, [read_predicted(tmp_path, suite.studies[0])], "f1", "paired")
    assert table is not None
    (cell,) = table.rows[0].cells
    assert cell.low is not None
    assert cell.high is not None
    assert cell.low < 0 < cell.high
    assert cell.mark == ""


@pytest.mark.parametrize(
    ("ours", "verdict"), [(2.0, "ahead of all rivals"), (0.5, "behind a rival")], ids=["ahead", "behind"]
)
def test_a_clear_difference_is_said(
    ours: float, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch, {"medmamba": ours, "patchtst": 1.2})
    write_grid(tmp_path, PTB)
    assert headline_of(tmp_path).rows[0].cells[7].text == verdict


def test_different_protocols_give_no_ranking_no_lead_and_no_bold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch, {"medmamba": 2.0, "patchtst": 1.2})
    write_grid(tmp_path, replace(PTB, recipe="published"))
    table = headline_of(tmp_path)
    cells = table.rows[0].cells
    assert cells[7].text == "not one protocol: no ranking"
    assert all(cell.is_empty for cell in (*cells[:4], cells[6]))
    assert (
        "patchtst: Adam at learning rate 0.0001, constant rate, batch 128, at most 100 epochs"
        in table.caption
    )
    assert "medmamba: AdamW at learning rate 0.0005, weight decay 0.1, cosine schedule" in table.caption
    main = main_results(suite_of(tmp_path).studies[0], "main")
    assert {cell.mark for row in main.rows for cell in row.cells} == {""}


def test_one_seed_gives_no_verdict_no_interval_and_no_bold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch, {"medmamba": 3.0, "patchtst": 0.5})
    write_grid(tmp_path, replace(PTB, seeds=(41,)))
    table = headline_of(tmp_path)
    lead, sure = table.rows[0].cells[6:8]
    assert (lead.low, lead.high, sure.text) == (None, None, "one seed: no verdict")
    assert lead.note is not None
    assert "no interval and no verdict from 1 seed" in table.footnotes[lead.note - 1]
    marks = {
        cell.mark for row in main_results(suite_of(tmp_path).studies[0], "main").rows for cell in row.cells
    }
    assert marks == {""}


def test_the_suite_of_one_protocol_comes_first_and_the_other_points_to_it(tmp_path: Path) -> None:
    for recipe in ("medformer", "published"):
        write_grid(tmp_path, replace(PTB, recipe=recipe, seeds=(41, 42), sizes={}, n_epochs=1))
    write_grid(tmp_path, Grid(recipe="medmamba", models=("medmamba",), datasets=("ptb",), n_epochs=1))
    contents = read_contents(tmp_path)
    assert in_brief(contents.sections)[-1].name == "brief-headline-medformer"
    captions = {table.name: table.caption for section in contents.sections for table in section.tables}
    pointer = "Ranked by one protocol for all models: see the table of recipe medformer."
    assert pointer in captions["headline-published"]
    assert pointer not in captions["headline-medformer"]
