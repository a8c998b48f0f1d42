"""Which judge rules on what, as far as the records of a results folder allow."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.analyses.analysis_record import read_analyses
from bench.analyses.centralization.judge import CentralizationJudge
from bench.analyses.centralization.record import read_centralization
from bench.analyses.channel_mixing import record as channel_mixing
from bench.analyses.channel_mixing.judge import ChannelMixingJudge
from bench.analyses.efficiency.judge import EfficiencyJudge
from bench.analyses.efficiency.panels import panels
from bench.analyses.efficiency.parameters_judge import ParametersJudge
from bench.analyses.embedding import record as embedding
from bench.analyses.embedding.judge import EmbeddingJudge
from bench.analyses.missing_sensors.judge import MissingSensorsJudge
from bench.analyses.missing_sensors.record import read_missing_sensors
from bench.analyses.scaling.judge import ScalingJudge
from bench.analyses.scaling.record import read_scaling
from bench.analyses.theory import record as theory
from bench.analyses.theory.judge import TheoryJudge
from bench.errors import BenchError
from bench.paper.claim_checks import Verdict
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import PAPER_RECIPE
from bench.report.judges.ablation import AblationJudge
from bench.report.judges.cells import CellJudge
from bench.report.judges.data import DataJudge
from bench.report.judges.setup import SetupJudge
from bench.results.efficiency_record import read_efficiency
from bench.studies.suite import Suite

_ANALYSES: dict[str, Callable[[Path], RecordJudge]] = {
    "centralization": lambda out: CentralizationJudge(read_centralization(out)),
    "channel-mixing": lambda out: ChannelMixingJudge(
        read_analyses(out, channel_mixing.NAME, channel_mixing.ChannelMixingRecord)
    ),
    "embedding": lambda out: EmbeddingJudge(read_analyses(out, embedding.NAME, embedding.EmbeddingRecord)),
    "missing-sensors": lambda out: MissingSensorsJudge(read_missing_sensors(out)),
    "scaling": lambda out: ScalingJudge(read_scaling(out)),
    "theory": lambda out: TheoryJudge(read_analyses(out, theory.NAME, theory.TheoryRecord)),
}


def make_judges(out: Path, suites: Sequence[Suite]) -> dict[str, RecordJudge]:
    """Return a judge for everything that a claim may need and records may decide.

    Scores, losses and settings are those of the paper's recipe, if it was run; data are those of any recipe. Records of
    an analysis or of efficiency that cannot be read are named in the evidence of every claim that asks for them.
    """
    suite = next((one for one in suites if one.recipe == PAPER_RECIPE), None)
    measured, damaged = read_efficiency(out)
    found = panels(measured)
    speed = _naming(EfficiencyJudge(found, suite), damaged)
    judges: dict[str, RecordJudge] = {
        "efficiency": speed,
        "rtx-3090": speed,
        "parameters": _naming(ParametersJudge(found), damaged),
    }
    if suites:
        judges["data"] = DataJudge(suites)
    if suite is not None:
        judges |= {"cells": CellJudge(suite), "ablation": AblationJudge(suite), "setup": SetupJudge(suite)}
    for name, make in _ANALYSES.items():
        try:
            judges[name] = make(out)
        except BenchError as error:
            judges[name] = _naming(_silent, [error])
    return judges


def _naming(judge: RecordJudge, damaged: Sequence[BenchError]) -> RecordJudge:
    """Return the judge with the unreadable records named in its evidence; without any it is the judge itself."""
    if not damaged:
        return judge
    said = f"damaged records: {'; '.join(map(str, damaged))}"

    def naming(claim: Claim) -> Ruling:
        ruling = judge(claim)
        if ruling is None:
            return Ruling(Verdict.NEEDS_RECORDS, said)
        return Ruling(ruling.verdict, f"{ruling.evidence}; {said}")

    return naming


def _silent(_claim: Claim) -> None:
    return None
