"""Our results beside the paper's: scores, set-up and claims."""

from collections.abc import Sequence
from pathlib import Path

from bench.paper.claims import ledger
from bench.report.answer import verdicts
from bench.report.judges import make_judges
from bench.report.section import Section, present
from bench.report.tables.claims_table import all_claims_table, claims_table
from bench.report.tables.reproduction import reproduction_table
from bench.report.tables.setup_tables import dataset_summary, model_configuration
from bench.studies.suite import Suite


def reproduction_section(suite: Suite, suffix: str, recipe: str) -> Section:
    """Return every published score beside the measured one."""
    tables, _ = present(
        *(reproduction_table(study, f"reproduction-{study.dataset}{suffix}") for study in suite.studies)
    )
    intro = (
        "Every published score beside the measured score, with the verdict, or the reason why there is none."
    )
    return Section(f"reproduction{suffix}", f"Published against measured{recipe}", intro, tables)


def setup_section(suite: Suite, suffix: str, recipe: str) -> Section:
    """Return the datasets and MedMamba's hyperparameters as they were run, beside the paper's."""
    tables, _ = present(
        dataset_summary(suite, f"datasets{suffix}"), model_configuration(suite, f"configuration{suffix}")
    )
    intro = "The datasets and MedMamba's hyperparameters as they were run, beside the paper's."
    return Section(f"setup{suffix}", f"Set-up{recipe}", intro, tables)


def claims_section(out: Path, suites: Sequence[Suite]) -> Section:
    """Return the ledger of the paper's claims."""
    entries = ledger(make_judges(out, suites))
    return Section(
        "claims",
        "The paper's claims",
        "The numeric and comparative claims, contradicted claims first, with the evidence and the command that tests "
        "them.",
        (claims_table(entries, "claims"),),
        data_tables=(all_claims_table(entries, "claims-all"),),
        summary=verdicts(entries),
    )
