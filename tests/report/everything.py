"""A results folder with a record of everything that a report can show, made up by the tests of its parts."""

from pathlib import Path

from bench.analyses import store
from bench.analyses.registry import find
from tests.analyses.centralization import test_centralization_report as test_centralization
from tests.analyses.channel_mixing import test_channel_mixing_report as test_channel_mixing
from tests.analyses.efficiency.efficiency_records import make_session
from tests.analyses.embedding import test_embedding_report as test_embedding
from tests.analyses.missing_sensors import test_missing_sensors_report as test_missing_sensors
from tests.analyses.scales import test_scales_report as test_scales
from tests.analyses.scaling.scaling_records import scaling_record
from tests.analyses.theory import test_theory_report as test_theory
from tests.report.grids import ABLATIONS, CLASSES, PAPER_MODELS, Grid, write_grid

ODD_NAMES = {"transformer": "a_b--c.D", "patchtst": "\u03b2net.Net", "reformer": "_\u0127 x"}
"""Names of plug-ins that LaTeX or markdown read as something else, or that pdflatex's fonts lack."""


def write_everything(out: Path) -> None:
    """Write the paper's grid with two seeds, efficiency of two devices, and every analysis."""
    elsewhere = out / "made-up"
    flat = (test_scales.FLAT, test_scales.FLAT, test_scales.FLAT)
    checks = [test_theory.check(number, test_theory.LINE) for number in ("1", "4", "5a")]
    made = {
        "scales": [test_scales.make(elsewhere, flat)],
        "channel-mixing": [test_channel_mixing.record_of(elsewhere, "adftd")],
        "missing-sensors": [test_missing_sensors.make(elsewhere)],
        "theory": [test_theory.record_of(*checks)],
        "centralization": [test_centralization.record(dataset, 0.5) for dataset in (*CLASSES, "weather")],
        "scaling": [scaling_record({"medmamba": 1.0, "transformer": 2.0})],
        "efficiency": [*make_session(), *make_session(device="cuda", factor=20)],
    }
    for name, records in made.items():
        for record in records:
            store.write(out, find(name), record)
    test_embedding.record_of(out)
    write_grid(out, Grid(models=PAPER_MODELS, datasets=tuple(CLASSES), known_as=ODD_NAMES, n_epochs=2))
    write_grid(out, Grid(models=ABLATIONS, datasets=("adftd",), n_epochs=2))
