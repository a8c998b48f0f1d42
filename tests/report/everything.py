"""A results folder with a record of everything that a report can show, made up by the tests of its parts."""

from pathlib import Path

from bench.analyses.analysis_record import write_analysis
from bench.analyses.centralization.record import write_centralization
from bench.analyses.channel_mixing import record as channel_mixing
from bench.analyses.missing_sensors import record as missing_sensors
from bench.analyses.scales import record as scales
from bench.analyses.scaling.record import write_scaling
from bench.analyses.theory import record as theory
from bench.results.efficiency_record import write_efficiency
from tests.analyses.centralization import test_centralization_report as test_centralization
from tests.analyses.channel_mixing import test_channel_mixing_report as test_channel_mixing
from tests.analyses.efficiency.efficiency_records import make_session
from tests.analyses.embedding import test_embedding_report as test_embedding
from tests.analyses.missing_sensors import test_missing_sensors_report as test_missing_sensors
from tests.analyses.scales import test_scales_report as test_scales
from tests.analyses.scaling.scaling_records import scaling_record
from tests.analyses.theory import test_theory_report as test_theory
from tests.report.grids import ABLATIONS, CLASSES, PAPER_MODELS, Grid, write_grid

ODD_NAMES = {"transformer": "a$b_{c}&%<script>", "patchtst": "\u03b2net.Net", "reformer": "*\u0127[x]"}
"""Names of plug-ins that LaTeX, markdown and HTML read as something else."""


def write_everything(out: Path) -> None:
    """Write the paper's grid with two seeds, efficiency of two devices, and every analysis."""
    elsewhere = out / "made-up"
    write_analysis(
        out,
        scales.NAME,
        "adftd",
        test_scales.make(elsewhere, (test_scales.FLAT, test_scales.FLAT, test_scales.FLAT)),
    )
    write_analysis(out, channel_mixing.NAME, "adftd", test_channel_mixing.record_of(elsewhere, "adftd"))
    write_analysis(out, missing_sensors.NAME, "ptb", test_missing_sensors.make(elsewhere))
    checks = [test_theory.check(number, test_theory.LINE) for number in ("1", "4", "5a")]
    write_analysis(out, theory.NAME, theory.NAME, test_theory.record_of(*checks))
    test_embedding.record_of(out)
    for dataset in (*CLASSES, "weather"):
        write_centralization(out, test_centralization.record(dataset, 0.5))
    write_scaling(out, scaling_record({"medmamba": 1.0, "transformer": 2.0}))
    for record in (*make_session(), *make_session(device="cuda", factor=20)):
        write_efficiency(out, record)
    write_grid(out, Grid(models=PAPER_MODELS, datasets=tuple(CLASSES), known_as=ODD_NAMES, n_epochs=2))
    write_grid(out, Grid(models=ABLATIONS, datasets=("adftd",), n_epochs=2))
