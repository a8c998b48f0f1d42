"""The sections that other commands fill say what is there, or how to get it."""

from pathlib import Path

import pytest

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import write_analysis
from bench.analyses.theory.record import NAME, TheoryRecord
from bench.report.measured import ANALYSES, analysis_sections, efficiency_sections
from tests.report.grids import Grid, write_grid


def test_without_records_the_commands_are_named(tmp_path: Path) -> None:
    (efficiency,), (analyses,) = (
        efficiency_sections(tmp_path).sections,
        analysis_sections(tmp_path, []).sections,
    )
    assert "bench efficiency" in efficiency.intro
    assert "bench analyze" in analyses.intro


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_has_a_report_that_takes_an_empty_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "analyses" / name).mkdir(parents=True)
    found = analysis_sections(tmp_path, [])
    assert [section.name for section in found.sections] == [f"analysis-{name}", "analyses"]
    assert f"bench analyze {name}" not in found.sections[1].intro
    assert (found.sections[0].tables, found.sections[0].figures) == ((), ())


@pytest.mark.parametrize("name", ANALYSES)
def test_a_damaged_record_is_told_and_its_section_left_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "analyses" / name).mkdir(parents=True)
    (tmp_path / "analyses" / name / "x.json").write_text("{", encoding="utf-8")
    found = analysis_sections(tmp_path, [])
    assert [section.name for section in found.sections] == ["analyses"]
    assert "x.json" in str(found.damaged[0])


def test_an_analysis_of_a_plug_in_is_named(tmp_path: Path) -> None:
    (tmp_path / "analyses" / "other").mkdir(parents=True)
    section, _ = analysis_sections(tmp_path, []).sections
    assert "analyses/other" in section.intro


def test_an_analysis_of_cells_that_were_trained_again_says_so(tmp_path: Path) -> None:
    records = write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), n_epochs=1))
    cells = AnalysedCells.of(records)
    record = TheoryRecord(schema=1, created="2026-01-01T00:00:00+00:00", seed=41, checks=(), cells=(cells,))
    write_analysis(tmp_path, NAME, NAME, record)
    assert analysis_sections(tmp_path, records).sections[0].intro == "By bench analyze theory."
    later = {"key": "f" * 64, "timing": records[0].timing.model_copy(update={"started": "2027-01-01"})}
    again = [*records, records[0].model_copy(update=later)]
    assert "medmamba on ptb" in analysis_sections(tmp_path, again).sections[0].intro
    further = records[0].cell.model_copy(update={"seed": 43})
    more = [*records, records[0].model_copy(update={"key": "e" * 64, "cell": further})]
    assert "run bench analyze theory again" in analysis_sections(tmp_path, more).sections[0].intro
