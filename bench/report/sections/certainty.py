"""How sure the differences are."""

from collections.abc import Sequence

from bench.render.figure import Figure
from bench.render.table import Table
from bench.report.figures.critical_difference import critical_difference_figure
from bench.report.section import Section, present
from bench.report.tables.seed_level import seed_table
from bench.report.tables.significance import METRIC_TITLES, paired_table, rank_table, wins_table
from bench.studies.predicted import Predicted
from bench.studies.suite import Suite

_NEEDS = {
    "paired": "Differences need all seeds of MedMamba and of a rival.",
    "ranks": "Ranks need two models with all seeds on two datasets, trained by one protocol.",
    "wins": "Wins need all seeds of MedMamba and of a rival, trained by one protocol.",
    "critical-difference": "The critical-difference diagram needs three such models.",
}
"""What an absent table or figure would need, by the beginning of its name."""


def certainty_section(suite: Suite, tested: Sequence[Predicted], suffix: str, recipe: str) -> Section:
    """Return the section."""
    items: list[Table | Figure | None] = []
    for metric in METRIC_TITLES:
        items += [
            paired_table(suite, tested, metric, f"paired-{metric}{suffix}"),
            rank_table(suite, metric, f"ranks-{metric}{suffix}"),
        ]
    items += [
        seed_table(suite, "f1", f"seeds-f1{suffix}"),
        wins_table(suite, "f1", f"wins-f1{suffix}"),
        critical_difference_figure(suite, "f1", f"critical-difference{suffix}"),
    ]
    tables, figures = present(*items)
    intro = (
        "Intervals over test subjects, tests over seeds, ranks over datasets, wins and losses, and how little "
        "so few datasets can show."
    )
    if not suite.has_one_protocol:
        intro += " Ranks and wins are only over datasets on which all models were trained by one protocol."
    if not tables and not figures:
        intro = "Nothing to compare: this needs two models with the same seeds, and MedMamba or two datasets."
    else:
        intro += _without([item.name for item in (*tables, *figures)])
    return Section(f"certainty{suffix}", f"How sure{recipe}", intro, tables, figures)


def _without(names: Sequence[str]) -> str:
    """List tables and figures absent for lack of complete models or datasets."""
    missing = [need for part, need in _NEEDS.items() if not any(name.startswith(part) for name in names)]
    return "".join(f" {need}" for need in missing)
