"""What other papers publish on the datasets of a report."""

from collections.abc import Sequence

from bench.field.claimed import datasets
from bench.field.field_tables import field_tables
from bench.report.section import Section
from bench.studies.suite import Suite


def field_section(suites: Sequence[Suite]) -> Section:
    """Return the field's published scores on every dataset that was run; without an intro where there are none."""
    run = {study.dataset for suite in suites for study in suite.studies}
    tables = field_tables([name for name in datasets() if name in run])
    intro = (
        "What other papers report on the same datasets, before and after the paper, as they claim it. Their protocols "
        "differ from the paper's and from each other's."
    )
    return Section("field", "What other papers report", intro if tables else "", tables)
