"""The sections that analyses fill say what is there, or how to get it."""

from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.registry import analyses, find
from bench.analyses.theory.record import TheoryRecord
from bench.report.sections.analyses import analysis_sections
from tests.report.grids import Grid, write_grid


def test_without_records_the_commands_are_named(tmp_path: Path) -> None:
    (section,) = analysis_sections(tmp_path, []).sections
    assert section.intro.startswith("bench efficiency, bench analyze centralization")
    assert all(name in section.intro for name in analyses())


@pytest.mark.parametrize("name", list(analyses()))
def test_a_damaged_record_is_told_and_its_section_left_out(tmp_path: Path, name: str) -> None:
    folder = find(name).folder_in(tmp_path)
    folder.mkdir(parents=True)
    (folder / "x.json").write_text("{", encoding="utf-8")
    found = analysis_sections(tmp_path, [])
    assert [section.name for section in found.sections] == ["analyses"]
    assert name not in found.sections[0].intro
    assert "x.json" in str(found.damaged[0])


def test_an_analysis_that_is_not_installed_is_named(tmp_path: Path) -> None:
    (tmp_path / "analyses" / "other").mkdir(parents=True)
    section, _ = analysis_sections(tmp_path, []).sections
    assert "analyses/other" in section.intro


def test_an_analysis_of_cells_that_were_trained_again_says_so(tmp_path: Path) -> None:
    records = write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), n_epochs=1))
    record = TheoryRecord(seed=41, checks=(), cells=(AnalysedCells.of(records),))
    store.write(tmp_path, find("theory"), record)
    assert analysis_sections(tmp_path, records).sections[0].intro.endswith("Command: bench analyze theory.")
    later = {"key": "f" * 64, "timing": records[0].timing.model_copy(update={"started": "2027-01-01"})}
    again = [*records, records[0].model_copy(update=later)]
    assert "medmamba on ptb" in analysis_sections(tmp_path, again).sections[0].intro
    further = records[0].cell.model_copy(update={"seed": 43})
    more = [*records, records[0].model_copy(update={"key": "e" * 64, "cell": further})]
    assert "run bench analyze theory again" in analysis_sections(tmp_path, more).sections[0].intro
