"""What a report contains: its sections in their order, built from records and predictions alone."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError, RecordError
from bench.report.section import Section
from bench.report.sections.ablation import ablation_section
from bench.report.sections.analyses import analysis_sections
from bench.report.sections.certainty import certainty_section
from bench.report.sections.dataset import dataset_section
from bench.report.sections.field import field_section
from bench.report.sections.other import other_section
from bench.report.sections.paper import claims_section, reproduction_section, setup_section
from bench.report.sections.results import results_section
from bench.results.record import Environment, Record
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import Predicted, read_predicted
from bench.studies.suite import Suite, make_suites


@dataclass(frozen=True)
class Contents:
    """Everything that a report shows.

    `measured` has the environments of cost measurements.
    """

    out: Path

    records: tuple[Record, ...]
    suites: tuple[Suite, ...]
    sections: tuple[Section, ...]
    damaged: tuple[BenchError, ...]
    measured: tuple[Environment, ...]

    @property
    def damages(self) -> tuple[str, ...]:
        """The files that could not be used, with paths relative to the results folder, since reports are shared."""
        return tuple(str(error).replace(f"{self.out}/", "") for error in self.damaged)


def read_contents(out: Path, tell: Callable[[Section], None] = lambda _: None) -> Contents:
    """Build the contents of a results folder.

    Parameters
    ----------
    out
        Results folder.
    tell
        Called with each section as soon as it is built.

    Raises
    ------
    RecordError
        There is no record, or the folder of cells is none.
    """
    records, unreadable = read_all(out)
    if not records:
        raise RecordError(f"{out}: no record of a finished cell; run 'bench run --out {out}' first")
    comparisons = compare(records)
    suites = make_suites(comparisons)
    damaged: list[BenchError] = list(unreadable)
    sections: list[Section] = []

    def add(*built: Section) -> None:
        for section in built:
            tell(section)
            sections.append(section)

    ranking = tuple(suite.recipe for suite in suites if suite.has_one_protocol and len(suite.models) > 1)
    # What ranks models comes first: it is what a reader looks for.
    for suite in sorted(suites, key=lambda suite: suite.recipe not in ranking):
        suffix = "" if len(suites) == 1 else f"-{suite.recipe}"
        recipe = f", recipe {suite.recipe}" if suffix else ""
        tested: dict[str, Predicted] = {}
        of_datasets: list[Section] = []
        # First, since they have most of the figures, which take longest to draw.
        for study in suite.studies:
            tested[study.dataset] = read_predicted(out, study)
            of_datasets.append(dataset_section(study, tested[study.dataset], suffix, recipe))
            tell(of_datasets[-1])
        damaged.extend(error for predicted in tested.values() for error in predicted.damaged)
        add(results_section(suite, tested, suffix, recipe, ranking))
        add(certainty_section(suite, list(tested.values()), suffix, recipe))
        sections.extend(of_datasets)
        add(ablation_section(out, suite, suffix, recipe))
        add(reproduction_section(suite, suffix, recipe), setup_section(suite, suffix, recipe))
    add(other_section(out, comparisons, suites))
    analysed = analysis_sections(out, records)
    add(*analysed.sections)
    damaged.extend(analysed.damaged)
    add(field_section(suites))
    add(claims_section(out, suites))
    shown = tuple(section for section in sections if section.intro)
    return Contents(
        out=out,
        records=tuple(records),
        suites=tuple(suites),
        sections=shown,
        damaged=tuple(damaged),
        measured=analysed.environments,
    )
