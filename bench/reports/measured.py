"""The parts of a report that other commands fill: efficiency and the analyses, or the commands that would fill them."""

import importlib
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.reports.efficiency import efficiency_report
from bench.reports.section import Section

# Folder below OUT/analyses -> title, and the module whose `<its name>_report(out)` gives tables and figures.
ANALYSES = {
    "centralization": ("Centralization", "bench.reports.centralization"),
    "channel-mixing": ("Channel mixing", "bench.reports.channel_mixing"),
    "embedding": ("Embedding", "bench.reports.embedding"),
    "missing-sensors": ("Missing sensors", "bench.reports.missing_sensors"),
    "theory": ("Propositions", "bench.reports.theory"),
    "scales": ("What the scales see", "bench.reports.scales"),
    "scaling": ("Scaling", "bench.reports.scaling"),
}


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


def analysis_sections(out: Path) -> Measured:
    """Return a section for each analysis that was run, or one that names the command."""
    folders = sorted(path.name for path in (out / "analyses").glob("*") if path.is_dir())
    if not folders:
        return Measured((Section("analyses", "Analyses", "No analysis was run: bench analyze --help"),))
    sections, damaged = [], []
    for name in folders:
        if name not in ANALYSES:
            intro = f"Run; its files are in the results folder under analyses/{name}."
            sections.append(Section(f"analysis-{name}", f"Analysis: {name}", intro))
            continue
        try:
            sections.append(_analysis(out, name))
        except BenchError as error:
            damaged.append(error)
    return Measured(tuple(sections), tuple(damaged))


def _analysis(out: Path, name: str) -> Section:
    title, module = ANALYSES[name]
    report = getattr(importlib.import_module(module), f"{module.rsplit('.')[-1]}_report")
    tables, figures = report(out)
    return Section(f"analysis-{name}", title, f"By bench analyze {name}.", tuple(tables), tuple(figures))
