"""Descriptions of analysed cells for the tests of reports on analyses, made of a synthetic grid's records."""

from pathlib import Path

from bench.analyses.analysed_cells import AnalysedCells
from tests.report.grids import Grid, write_grid


def analysed(out: Path, dataset: str, kind: str = "whole") -> AnalysedCells:
    """Describe MedMamba's cells of two seeds."""
    return AnalysedCells.of(
        write_grid(out, Grid(models=("medmamba",), datasets=(dataset,), kind=kind))  # type: ignore[arg-type]
    )
