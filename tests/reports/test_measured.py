"""The sections that other commands fill say what is there, or how to get it."""

from pathlib import Path

import pytest

from bench.reports.measured import ANALYSES, analysis_sections, efficiency_sections


def test_without_records_the_commands_are_named(tmp_path: Path) -> None:
    (efficiency,), (analyses,) = efficiency_sections(tmp_path).sections, analysis_sections(tmp_path).sections
    assert "bench efficiency" in efficiency.intro
    assert "bench analyze" in analyses.intro


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_has_a_report_that_takes_an_empty_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "analyses" / name).mkdir(parents=True)
    found = analysis_sections(tmp_path)
    assert [section.name for section in found.sections] == [f"analysis-{name}"]
    assert (found.sections[0].tables, found.sections[0].figures) == ((), ())


@pytest.mark.parametrize("name", ANALYSES)
def test_a_damaged_record_is_told_and_its_section_left_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "analyses" / name).mkdir(parents=True)
    (tmp_path / "analyses" / name / "x.json").write_text("{", encoding="utf-8")
    found = analysis_sections(tmp_path)
    assert found.sections == ()
    assert "x.json" in str(found.damaged[0])


def test_an_analysis_of_a_plug_in_is_named(tmp_path: Path) -> None:
    (tmp_path / "analyses" / "other").mkdir(parents=True)
    (section,) = analysis_sections(tmp_path).sections
    assert "analyses/other" in section.intro
