"""What each part of MedMamba is worth."""

from pathlib import Path

from bench.render.figure import Figure
from bench.render.table import Table
from bench.report.figures.ablation_bars import ablation_bars
from bench.report.figures.ablation_dots import ablation_figure
from bench.report.section import Section, present
from bench.report.tables.ablation_table import ablation_table
from bench.studies.ablation_differences import read_ablation
from bench.studies.suite import Suite


def ablation_section(out: Path, suite: Suite, suffix: str, recipe: str) -> Section:
    """Return the section; its intro names the command if no reduced model was run."""
    items: list[Table | Figure | None] = []
    for study in suite.studies:
        found = read_ablation(out, study)
        if found is None:
            continue
        name = f"{study.dataset}{suffix}"
        items += [
            ablation_table(found, f"ablation-{name}"),
            ablation_bars(found, f"ablation-bars-{name}"),
            ablation_figure(found, f"ablation-{name}"),
        ]
    tables, figures = present(*items)
    intro = "The full model compared with models that lack one part, paired by seed."
    if not tables:
        intro = (
            "No reduced model was run. Command: bench run --datasets adftd --models medmamba,medmamba-single-scale,"
            "medmamba-unidirectional,medmamba-no-channel-mixing"
        )
    return Section(f"ablation{suffix}", f"Ablation{recipe}", intro, tables, figures)
