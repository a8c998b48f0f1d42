"""Comparisons under changed settings or on other data, kept apart from all other sections."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.report.section import Section, present
from bench.report.tables.ablation_table import ablation_table
from bench.report.tables.by_normalisation import normalisation_tables
from bench.report.tables.main_results import main_results
from bench.studies.ablation_differences import read_ablation
from bench.studies.aggregate import Comparison
from bench.studies.suite import Study, Suite


def other_section(out: Path, comparisons: Sequence[Comparison], suites: Sequence[Suite]) -> Section:
    """Return the comparisons that no suite has, each as a table of its own; without an intro where there is none.

    First comes what a choice of normalisation does.
    """
    chosen = [study.comparison for suite in suites for study in suite.studies]
    numbers: Counter[str] = Counter()
    tables = normalisation_tables(comparisons)
    for comparison in comparisons:
        study = Study(comparison)
        if comparison in chosen:
            continue
        numbers[study.dataset] += 1
        name = f"other-{study.dataset}-{numbers[study.dataset]}"
        if study.groups:
            tables.append(main_results(study, name))
        # A comparison with reduced models only has just an ablation table.
        elif found := read_ablation(out, study):
            tables.append(ablation_table(found, name))
    intro = (
        "Results under changed settings or on other data; the tables above do not include them."
        if tables
        else ""
    )
    return Section("other", "Other comparisons", intro, present(*tables)[0])
