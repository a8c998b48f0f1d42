"""Which judge rules on what, as far as the records of a results folder allow."""

from collections.abc import Callable
from pathlib import Path

from bench.errors import BenchError
from bench.reports.efficiency_panels import panels
from bench.reports.judges.ablation import AblationJudge
from bench.reports.judges.cells import CellJudge
from bench.reports.judges.centralization import CentralizationJudge
from bench.reports.judges.channel_mixing import ChannelMixingJudge
from bench.reports.judges.data import DataJudge
from bench.reports.judges.efficiency import EfficiencyJudge
from bench.reports.judges.embedding import EmbeddingJudge
from bench.reports.judges.parameters import ParametersJudge
from bench.reports.judges.scaling import ScalingJudge
from bench.reports.judges.theory import TheoryJudge
from bench.reports.suite import Suite
from bench.results import channel_mixing, embedding, theory
from bench.results.analysis import read_analyses
from bench.results.centralization import read_centralization
from bench.results.claims import RecordJudge
from bench.results.efficiency import read_efficiency
from bench.results.scaling import read_scaling

_ANALYSES: dict[str, Callable[[Path], RecordJudge]] = {
    "centralization": lambda out: CentralizationJudge(read_centralization(out)),
    "channel-mixing": lambda out: ChannelMixingJudge(
        read_analyses(out, channel_mixing.NAME, channel_mixing.ChannelMixingRecord)
    ),
    "embedding": lambda out: EmbeddingJudge(read_analyses(out, embedding.NAME, embedding.EmbeddingRecord)),
    "scaling": lambda out: ScalingJudge(read_scaling(out)),
    "theory": lambda out: TheoryJudge(read_analyses(out, theory.NAME, theory.TheoryRecord)),
}


def make_judges(out: Path, suite: Suite | None) -> dict[str, RecordJudge]:
    """Return a judge for everything that a claim may need and records may decide.

    ``suite`` are the results under the paper's recipe, None where there are none. Damaged records of an analysis leave
    its claims to others; the report's section on that analysis says that they are damaged.
    """
    found = panels(read_efficiency(out)[0])
    speed = EfficiencyJudge(found, suite)
    judges: dict[str, RecordJudge] = {
        "efficiency": speed,
        "rtx-3090": speed,
        "parameters": ParametersJudge(found),
    }
    if suite is not None:
        judges |= {"cells": CellJudge(suite), "ablation": AblationJudge(suite), "data": DataJudge(suite)}
    for name, make in _ANALYSES.items():
        try:
            judges[name] = make(out)
        except BenchError:
            continue
    return judges
