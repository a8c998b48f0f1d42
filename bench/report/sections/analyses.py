"""The sections that controls, ``bench efficiency`` and ``bench analyze`` fill, or the commands that would fill them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.contract import Analysis, Shown
from bench.analyses.registry import analyses
from bench.errors import BenchError
from bench.report.analysis_records import read_shown
from bench.report.section import Section
from bench.report.sections.controls import controls_section
from bench.results.record import Environment, Record
from bench.studies.aggregate import Condition, label_of
from bench.studies.control_scores import control_scores


@dataclass(frozen=True)
class Analysed:
    """Sections, the records that could not be read, and the environments of the readable ones."""

    sections: tuple[Section, ...]
    damaged: tuple[BenchError, ...] = ()
    environments: tuple[Environment, ...] = ()


def analysis_sections(out: Path, records: Sequence[Record]) -> Analysed:
    """Return a section for controls and for each analysis that were run, and one with the commands of the others.

    The section of an analysis notes if its cells are not the latest of the ``records``.
    """
    controls = control_scores(out, records)
    sections: list[Section] = [controls_section(controls)] if controls.studies else []
    damaged: list[BenchError] = [*controls.damaged]
    environments: list[Environment] = []
    not_run: list[str] = []
    for analysis in analyses().values():
        found = read_shown(out, analysis)
        damaged += found.damaged
        environments += [record.environment for record in found.records if hasattr(record, "environment")]
        if found.shown is not None:
            sections.append(_section(analysis, found.records, found.shown, records))
        elif not found.damaged:
            not_run.append(analysis.command)
    sections += [_of_unknown(name) for name in _unknown(out)]
    if not_run:
        sections.append(Section("analyses", "Analyses not run", f"{', '.join(not_run)}."))
    return Analysed(tuple(sections), tuple(damaged), tuple(environments))


def _section(analysis: Analysis, found: Sequence[Any], shown: Shown, records: Sequence[Record]) -> Section:
    intro = f"{analysis.summary} Command: {analysis.command}."
    old = outdated_cells((cells for record in found for cells in record.analysed), records)
    if old:
        intro += (
            f" There are newer cells than those analysed ({', '.join(old)}): run {analysis.command} again."
        )
    name = f"analysis-{analysis.name}"
    return Section(name, analysis.title, intro, tuple(shown.tables), tuple(shown.figures))


def _unknown(out: Path) -> list[str]:
    """Return the folders of analyses unknown to this installation."""
    folders = sorted(path.name for path in (out / "analyses").glob("*") if path.is_dir())
    return [name for name in folders if name not in analyses()]


def _of_unknown(name: str) -> Section:
    intro = f"This analysis was run; its files are in the results folder under analyses/{name}."
    return Section(f"analysis-{name}", f"Analysis: {name}", intro)


def outdated_cells(analysed: Iterable[AnalysedCells], records: Sequence[Record]) -> list[str]:
    """Return each model and dataset whose analysed cells differ from those that a new run would take."""
    done = {record.key: record for record in records if record.is_done}
    latest: dict[tuple[Condition, str], dict[int, Record]] = defaultdict(dict)
    for record in sorted(done.values(), key=lambda record: record.timing.started):
        latest[Condition.of(record), label_of(record)][record.cell.seed] = record
    found = []
    for cells in analysed:
        known = [done[key] for key in cells.keys if key in done]
        current = latest[Condition.of(known[0]), label_of(known[0])] if known else {}
        if {record.key for record in current.values()} != set(cells.keys):
            found.append(f"{cells.model} on {cells.dataset}")
    return list(dict.fromkeys(found))
