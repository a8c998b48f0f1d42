"""The parts of a report that other commands fill: efficiency and the analyses, or the commands that would fill them."""

import pkgutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.analyses.analysed import read_analysed
from bench.analyses.efficiency.report import efficiency_report
from bench.errors import BenchError
from bench.report.section import Section
from bench.results.record import Record
from bench.studies.aggregate import Condition, label_of

ANALYSES = {
    "centralization": ("Centralization", "bench.analyses.centralization.report:centralization_report"),
    "channel-mixing": ("Channel mixing", "bench.analyses.channel_mixing.report:channel_mixing_report"),
    "embedding": ("Embedding", "bench.analyses.embedding.report:embedding_report"),
    "missing-sensors": ("Missing sensors", "bench.analyses.missing_sensors.report:missing_sensors_report"),
    "theory": ("Propositions", "bench.analyses.theory.report:theory_report"),
    "scales": ("What the scales see", "bench.analyses.scales.report:scales_report"),
    "scaling": ("Scaling", "bench.analyses.scaling.report:scaling_report"),
}
"""Folder below OUT/analyses -> title, and the function that gives tables and figures of OUT."""


@dataclass(frozen=True)
class Measured:
    """Sections and the records for them that could not be read."""

    sections: tuple[Section, ...]
    damaged: tuple[BenchError, ...] = ()


def efficiency_sections(out: Path) -> Measured:
    """Return the section on efficiency."""
    found = efficiency_report(out)
    intro = "Parameters, operations, speed and memory; absolute numbers of different devices never share a column."
    if not found.tables:
        intro = "Nothing was measured: bench efficiency --models all"
    section = Section("efficiency", "Efficiency", intro, tuple(found.tables), tuple(found.figures))
    return Measured((section,), tuple(found.damaged))


def analysis_sections(out: Path, records: Sequence[Record]) -> Measured:
    """Return a section for each analysis that was run, and one that names the commands of the others.

    An analysis of cells that are not the latest of the ``records`` is said to be of other cells.
    """
    folders = sorted(path.name for path in (out / "analyses").glob("*") if path.is_dir())
    sections, damaged = [], []
    for name in folders:
        if name not in ANALYSES:
            intro = f"Run; its files are in the results folder under analyses/{name}."
            sections.append(Section(f"analysis-{name}", f"Analysis: {name}", intro))
            continue
        try:
            sections.append(_analysis(out, name, records))
        except BenchError as error:
            damaged.append(error)
    others = [f"bench analyze {name}" for name in ANALYSES if name not in folders]
    if others:
        sections.append(Section("analyses", "Analyses not run", f"{', '.join(others)}."))
    return Measured(tuple(sections), tuple(damaged))


def _analysis(out: Path, name: str, records: Sequence[Record]) -> Section:
    title, report = ANALYSES[name]
    tables, figures = pkgutil.resolve_name(report)(out)
    intro = f"By bench analyze {name}."
    old = outdated_cells(out, name, records)
    if old:
        intro += (
            f" Of cells that are no longer the latest ({', '.join(old)}): run bench analyze {name} again."
        )
    return Section(f"analysis-{name}", title, intro, tuple(tables), tuple(figures))


def outdated_cells(out: Path, name: str, records: Sequence[Record]) -> list[str]:
    """Return the models on datasets whose analysed cells are not those that a new run would take, seed by seed."""
    done = {record.key: record for record in records if record.is_done}
    latest: dict[tuple[Condition, str], dict[int, Record]] = defaultdict(dict)
    for record in sorted(done.values(), key=lambda one: one.timing.started):
        latest[Condition.of(record), label_of(record)][record.cell.seed] = record
    found = []
    for cells in read_analysed(out, name):
        known = [done[key] for key in cells.keys if key in done]
        current = latest[Condition.of(known[0]), label_of(known[0])] if known else {}
        if {one.key for one in current.values()} != set(cells.keys):
            found.append(f"{cells.model} on {cells.dataset}")
    return list(dict.fromkeys(found))
