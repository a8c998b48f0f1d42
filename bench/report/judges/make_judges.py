"""The judges by what a claim needs, as far as the records of a results folder allow."""

from collections.abc import Sequence
from pathlib import Path

from bench.analyses.registry import analyses
from bench.errors import BenchError
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import PAPER_RECIPE
from bench.paper.scale import Ruling, Verdict
from bench.report.analysis_records import read_shown
from bench.report.judges.ablation_claims import AblationJudge
from bench.report.judges.data_claims import DataJudge
from bench.report.judges.field_claims import judge_field
from bench.report.judges.score_claims import CellJudge
from bench.report.judges.setup_claims import SetupJudge
from bench.studies.suite import Suite

_OF_DATA = ("data", "counts", "disjoint", "scaling-of-data")
_OF_SETUP = ("setup", "batches", "protocols", "ablation-sizes")


def make_judges(out: Path, suites: Sequence[Suite]) -> dict[str, RecordJudge]:
    """Return a judge for every ``needs`` of claims that records can decide.

    Scores, losses and settings come from the paper's recipe, if it was run; data from any recipe. Records of
    an analysis that cannot be read are named in the evidence of every claim that needs them.
    """
    suite = next((suite for suite in suites if suite.recipe == PAPER_RECIPE), None)
    judges: dict[str, RecordJudge] = {"field": judge_field}
    if suites:
        judges |= dict.fromkeys(_OF_DATA, DataJudge(suites))
    if suite is not None:
        judges |= {"cells": CellJudge(suite), "ablation": AblationJudge(suite)}
        judges |= dict.fromkeys(_OF_SETUP, SetupJudge(suite))
    for analysis in analyses().values():
        found = read_shown(out, analysis)
        of_analysis = analysis.judges(found.records, suite)
        judges |= {need: _naming(judge, found.damaged) for need, judge in of_analysis.items()}
    return judges


def _naming(judge: RecordJudge, damaged: Sequence[BenchError]) -> RecordJudge:
    """Return the judge, with unreadable records, if any, named in its evidence."""
    if not damaged:
        return judge
    evidence = f"damaged records: {'; '.join(map(str, damaged))}"

    def naming(claim: Claim) -> Ruling:
        ruling = judge(claim)
        if ruling is None:
            return Ruling(Verdict.UNDECIDED, evidence)
        return Ruling(ruling.verdict, f"{ruling.evidence}; {evidence}")

    return naming
