"""The judges of records that the claims ledger asks, by what a claim needs."""

from bench.reports.ablation_judge import AblationJudge
from bench.reports.cell_judge import CellJudge
from bench.reports.data_judge import DataJudge
from bench.reports.suite import Suite
from bench.results.claims import RecordJudge


def make_judges(suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judges that records of cells allow; none without a suite of the paper's recipe."""
    if suite is None:
        return {}
    return {"cells": CellJudge(suite), "ablation": AblationJudge(suite), "data": DataJudge(suite)}
