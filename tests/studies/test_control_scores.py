"""The verdict on shuffled labels: a score above every guess is called a leak, a guess's is not."""

from pathlib import Path

import numpy as np
import pytest

from bench.files import sha256_of
from bench.report.contents import read_contents
from bench.results.pack import pack, verify_pack
from bench.results.record import Record
from bench.results.store import CONTROLS, CellFolder, write_record
from bench.stats.estimate import Bounds
from bench.studies.chance import stratified_scores
from bench.studies.control_scores import AT_CHANCE, FEW, LEAKS, UNKNOWN, control_scores, verdict_of
from bench.train.scores import score
from tests.report.grids import CLASSES, Grid, write_grid

GRID = Grid(models=("medmamba", "patchtst"), datasets=("ptb",), seeds=(41, 42, 43), sizes={"ptb": (40, 6)})


def write_controls(out: Path, grid: Grid, *guessing: str) -> list[Record]:
    """Write a grid's cells as controls; the models named answer whatever the class."""
    records = write_grid(out / CONTROLS, grid)
    return [_as_control(out, record, guesses=record.cell.model in guessing) for record in records]


def _as_control(out: Path, record: Record, *, guesses: bool) -> Record:
    folder = CellFolder.of(out / CONTROLS, record.cell, record.key)
    changed = {"settings": record.settings | {"control": "shuffled-labels"}}
    if guesses:
        with np.load(folder.predictions) as file:
            arrays = dict(file)
        order = np.random.default_rng(record.cell.seed).permutation(len(arrays["label"]))
        arrays["logits"] = arrays["logits"][order]
        np.savez_compressed(folder.predictions, **arrays)
        scores = score(arrays["logits"], arrays["label"], arrays["subject"], CLASSES[record.cell.dataset])
        assert record.metrics is not None
        changed["metrics"] = record.metrics.model_copy(update={"test": scores})  # type: ignore[assignment]
        changed["files"] = record.files | {folder.predictions.name: sha256_of(folder.predictions)}
    written = record.model_copy(update=changed)
    write_record(folder, written)
    return written


def test_the_best_blind_guess_is_the_stratified_one() -> None:
    """Of all shares of answers: F1 of class k is 2 p q / (p + q) for its share p of windows and q of answers."""
    p = np.array([0.7, 0.2, 0.1])
    answers = np.random.default_rng(0).dirichlet(np.ones(3), 2000)
    f1 = (2 * p * answers / (p + answers)).mean(axis=1)
    assert f1.max() <= stratified_scores([70, 20, 10])["f1"]


@pytest.mark.parametrize(("low", "verdict"), [(0.49, AT_CHANCE), (0.51, LEAKS)])
def test_above_chance_is_an_interval_above_the_guess(low: float, verdict: str) -> None:
    assert verdict_of(Bounds(low, 0.9, 0.95), 0.5) == verdict


def test_a_leak_is_told_from_a_guess(tmp_path: Path) -> None:
    write_controls(tmp_path, GRID, "patchtst")
    results = write_grid(tmp_path, GRID)
    (study,) = control_scores(tmp_path, results).studies
    guessing, leaking = study.scores
    assert (leaking.model, leaking.verdict) == ("medmamba", LEAKS)
    assert (guessing.model, guessing.verdict) == ("patchtst", AT_CHANCE)
    assert leaking.true_f1 == pytest.approx(leaking.f1.mean)
    assert guessing.true_f1 is not None
    assert guessing.true_f1 > guessing.f1.mean + 0.1
    assert (study.stratified, study.majority) == (0.5, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("seeds", "size", "verdict"), [((41,), (40, 6), UNKNOWN), ((41, 42), (8, 6), FEW)], ids=["seed", "few"]
)
def test_too_little_gives_no_verdict(
    tmp_path: Path, seeds: tuple[int, ...], size: tuple[int, int], verdict: str
) -> None:
    grid = Grid(models=("medmamba",), datasets=("ptb",), seeds=seeds, sizes={"ptb": size})
    write_controls(tmp_path, grid)
    (study,) = control_scores(tmp_path, []).studies
    assert [(score.verdict, score.true_f1) for score in study.scores] == [(verdict, None)]


def test_a_pack_takes_controls_with_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_grid(out, GRID)
    without = pack(out, tmp_path / "report", tmp_path / "without.zip")
    write_controls(out, GRID)
    packed = pack(out, tmp_path / "report", tmp_path / "with.zip")
    assert verify_pack(packed.path) == packed.n_files == without.n_files + 2 * len(GRID.cells)
    assert packed.n_cells == without.n_cells


def test_the_report_shows_controls_in_their_section_alone(tmp_path: Path) -> None:
    write_grid(tmp_path, GRID)
    plain = read_contents(tmp_path)
    write_controls(tmp_path, GRID, "patchtst")
    contents = read_contents(tmp_path)
    sections = {section.name: section for section in contents.sections}
    (table,) = sections.pop("controls").tables
    assert [row.cells[-1].text for row in table.rows] == [AT_CHANCE, LEAKS]
    assert not contents.damaged
    assert [section.name for section in plain.sections] == list(sections)
    for before, name in zip(plain.sections, sections, strict=True):
        assert sections[name].tables == before.tables
