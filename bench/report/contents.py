"""What a report contains: its sections, built from records and predictions alone."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.analyses.scaling.record import read_scaling
from bench.errors import BenchError, RecordError
from bench.paper.claims import ledger
from bench.render.figure import Figure
from bench.render.table import Table
from bench.report.figures.ablation_bars import ablation_bars
from bench.report.figures.ablation_dots import ablation_figure
from bench.report.figures.calibration import calibration_figure
from bench.report.figures.confusion import confusion_figure
from bench.report.figures.critical_difference import critical_difference_figure
from bench.report.figures.dot_plot import results_figure
from bench.report.figures.subject_strip import subject_figure
from bench.report.figures.training_curves import curves_figure
from bench.report.judges import make_judges
from bench.report.measured import analysis_sections, efficiency_sections
from bench.report.section import Section, present
from bench.report.tables.ablation_table import ablation_table
from bench.report.tables.claims_table import all_claims_table, claims_table
from bench.report.tables.headline import headline
from bench.report.tables.main_results import main_results
from bench.report.tables.paper_tables import ecg_table, eeg_table
from bench.report.tables.reproduction import reproduction_table
from bench.report.tables.setup_tables import dataset_summary, model_configuration
from bench.report.tables.significance import METRIC_TITLES, paired_table, rank_table, wins_table
from bench.report.tables.subject_results import class_results, subject_results
from bench.results.efficiency_record import read_efficiency
from bench.results.record import Environment, Record
from bench.results.store import read_all
from bench.studies.ablation_differences import read_ablation
from bench.studies.aggregate import Comparison, compare
from bench.studies.predicted import Predicted, read_predicted
from bench.studies.suite import Study, Suite, make_suites


@dataclass(frozen=True)
class Contents:
    """Everything that a report shows.

    `main` names the tables that a terminal shows too; `measured` is where efficiency and scaling were measured.
    """

    out: Path

    records: tuple[Record, ...]
    suites: tuple[Suite, ...]
    sections: tuple[Section, ...]
    main: tuple[str, ...]
    damaged: tuple[BenchError, ...]
    measured: tuple[Environment, ...]

    @property
    def damages(self) -> tuple[str, ...]:
        """What could not be used, with paths as they are below the results folder: reports are passed on."""
        return tuple(str(error).replace(f"{self.out}/", "") for error in self.damaged)


def read_contents(out: Path, tell: Callable[[Section], None] = lambda _: None) -> Contents:
    """Build the contents of a results folder.

    Parameters
    ----------
    out
        Results folder.
    tell
        Is given each section as soon as it is built.

    Raises
    ------
    RecordError
        There is no record, or one is of a newer schema.
    """
    records, unreadable = read_all(out)
    if not records:
        raise RecordError(f"{out}: no record of a finished cell; run 'bench run --out {out}' first")
    comparisons = compare(records)
    suites = make_suites(comparisons)
    damaged: list[BenchError] = list(unreadable)
    sections: list[Section] = []
    main: list[str] = []

    def add(*built: Section) -> None:
        for section in built:
            tell(section)
            sections.append(section)

    for suite in suites:
        suffix = "" if len(suites) == 1 else f"-{suite.recipe}"
        recipe = f", recipe {suite.recipe}" if suffix else ""
        tested: dict[str, Predicted] = {}
        of_datasets: list[Section] = []
        # First, as they have most of the figures, which take longest.
        for study in suite.studies:
            tested[study.dataset] = read_predicted(out, study)
            of_datasets.append(_dataset_section(study, tested[study.dataset], suffix, recipe))
            tell(of_datasets[-1])
        damaged.extend(error for one in tested.values() for error in one.damaged)
        add(_results_section(suite, tested, suffix, recipe))
        add(_significance_section(suite, list(tested.values()), suffix, recipe))
        sections.extend(of_datasets)
        add(_ablation_section(out, suite, suffix, recipe))
        add(_reproduction_section(suite, suffix, recipe), _setup_section(suite, suffix, recipe))
        main.extend([f"headline{suffix}", *(f"main-{study.dataset}{suffix}" for study in suite.studies)])
    add(_other_section(out, comparisons, suites))
    for measured in (efficiency_sections(out), analysis_sections(out, records)):
        add(*measured.sections)
        damaged.extend(measured.damaged)
    add(_claims_section(out, suites))
    shown = tuple(one for one in sections if one.intro)
    return Contents(
        out, tuple(records), tuple(suites), shown, tuple(main), tuple(damaged), tuple(_environments(out))
    )


def _environments(out: Path) -> Iterator[Environment]:
    """Yield where efficiency and scaling were measured; what is damaged is told by their sections."""
    yield from (record.environment for record in read_efficiency(out)[0])
    with suppress(BenchError):
        yield from (record.environment for record in read_scaling(out))


def _results_section(suite: Suite, tested: Mapping[str, Predicted], suffix: str, recipe: str) -> Section:
    tables, figures = present(
        headline(suite, tested, f"headline{suffix}"),
        ecg_table(suite, f"main-ecg{suffix}"),
        eeg_table(suite, f"main-eeg-activity{suffix}"),
    )
    intro = "Who wins where, by how much and how sure; then the paper's two main tables with what was measured here."
    return Section(f"results{suffix}", f"Results{recipe}", intro, tables, figures)


def _significance_section(suite: Suite, tested: Sequence[Predicted], suffix: str, recipe: str) -> Section:
    items = []
    for metric in METRIC_TITLES:
        items.extend(
            [
                paired_table(suite, tested, metric, f"paired-{metric}{suffix}"),
                rank_table(suite, metric, f"ranks-{metric}{suffix}"),
            ]
        )
    items.append(wins_table(suite, "f1", f"wins-f1{suffix}"))
    items.append(critical_difference_figure(suite, "f1", f"critical-difference{suffix}"))
    tables, figures = present(*items)
    intro = (
        "Intervals over test subjects, ranks over datasets, wins and losses; how little so few datasets say."
    )
    if not tables and not figures:
        intro = "Nothing to compare: this needs two models with the same seeds, and MedMamba or two datasets."
    else:
        intro += _without(tables, figures)
    return Section(f"certainty{suffix}", f"How sure{recipe}", intro, tables, figures)


def _without(tables: Sequence[Table], figures: Sequence[Figure]) -> str:
    """Say what is not shown for want of complete models or datasets."""
    names = [one.name for one in (*tables, *figures)]
    needs = {
        "paired": "Differences need a complete MedMamba and a rival.",
        "ranks": "Ranks need two models that are complete on two datasets.",
        "wins": "Wins need a complete MedMamba and a rival.",
        "critical-difference": "The critical-difference diagram needs three such models.",
    }
    return "".join(
        f" {said}" for part, said in needs.items() if not any(one.startswith(part) for one in names)
    )


def _dataset_section(study: Study, tested: Predicted, suffix: str, recipe: str) -> Section:
    name = f"{study.dataset}{suffix}"
    tables, figures = present(
        main_results(study, f"main-{name}"),
        subject_results(tested, f"subjects-{name}"),
        class_results(study, f"classes-{name}"),
        results_figure(tested, f"results-{name}"),
        subject_figure(tested, f"accuracy-by-subject-{name}"),
        confusion_figure(tested, f"confusion-{name}"),
        calibration_figure(tested, f"calibration-{name}"),
        curves_figure(study, f"curves-{name}"),
    )
    intro = f"{study.record.data.title}. Scores of windows, of subjects and of classes."
    if not tested.cells:
        intro += (
            " No predictions are at hand, so that nothing is said of subjects, confusions and calibration."
        )
    return Section(f"dataset-{name}", f"{study.label}{recipe}", intro, tables, figures)


def _ablation_section(out: Path, suite: Suite, suffix: str, recipe: str) -> Section:
    items: list[Table | Figure | None] = []
    for one in suite.studies:
        found = read_ablation(out, one)
        if found is None:
            continue
        name = f"{one.dataset}{suffix}"
        items += [
            ablation_table(found, f"ablation-{name}"),
            ablation_bars(found, f"ablation-bars-{name}"),
            ablation_figure(found, f"ablation-{name}"),
        ]
    tables, figures = present(*items)
    intro = "The full model against itself without one part, paired by seed."
    if not tables:
        intro = (
            "No reduced model was run: bench run --datasets adftd --models medmamba,medmamba-single-scale,"
            "medmamba-unidirectional,medmamba-no-channel-mixing"
        )
    return Section(f"ablation{suffix}", f"Ablation{recipe}", intro, tables, figures)


def _reproduction_section(suite: Suite, suffix: str, recipe: str) -> Section:
    tables = present(
        *(reproduction_table(study, f"reproduction-{study.dataset}{suffix}") for study in suite.studies)
    )[0]
    intro = "Every published score beside the measured one, and why a comparison may be void."
    return Section(f"reproduction{suffix}", f"Published against measured{recipe}", intro, tables)


def _setup_section(suite: Suite, suffix: str, recipe: str) -> Section:
    tables = present(
        dataset_summary(suite, f"datasets{suffix}"), model_configuration(suite, f"configuration{suffix}")
    )[0]
    intro = "The datasets and MedMamba's hyperparameters as they were run, beside the paper's."
    return Section(f"setup{suffix}", f"Set-up{recipe}", intro, tables)


def _other_section(out: Path, comparisons: Sequence[Comparison], suites: Sequence[Suite]) -> Section:
    """Return the comparisons that no suite has, each as a table of its own; without an intro where there is none."""
    chosen = [study.comparison for suite in suites for study in suite.studies]
    numbers: Counter[str] = Counter()
    tables = []
    for one in comparisons:
        study = Study(one)
        if one in chosen:
            continue
        numbers[study.dataset] += 1
        name = f"other-{study.dataset}-{numbers[study.dataset]}"
        if study.groups:
            tables.append(main_results(study, name))
        # Reduced models alone, without any that they may be compared with, have an ablation table only.
        elif found := read_ablation(out, study):
            tables.append(ablation_table(found, name))
    intro = (
        "Results under changed settings or on other data, which no table above mixes in." if tables else ""
    )
    return Section("other", "Other comparisons", intro, present(*tables)[0])


def _claims_section(out: Path, suites: Sequence[Suite]) -> Section:
    entries = ledger(make_judges(out, suites))
    return Section(
        "claims",
        "The paper's claims",
        "Every numeric or comparative claim with the command that tests it and the verdict so far.",
        (claims_table(entries, "claims"),),
        data_tables=(all_claims_table(entries, "claims-all"),),
    )
