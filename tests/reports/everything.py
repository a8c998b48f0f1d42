"""A results folder with a record of everything that a report can show, made up by the tests of its parts."""

from pathlib import Path

from bench.results import channel_mixing, missing_sensors, scales, theory
from bench.results.analysis import write_analysis
from bench.results.centralization import write_centralization
from bench.results.efficiency import write_efficiency
from bench.results.scaling import write_scaling
from tests.reports import (
    test_centralization,
    test_channel_mixing,
    test_embedding,
    test_missing_sensors,
    test_scales,
    test_theory,
)
from tests.reports.efficiency_records import make_session
from tests.reports.grids import ABLATIONS, CLASSES, PAPER_MODELS, Grid, write_grid
from tests.reports.scaling_records import scaling_record

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
