"""Results folders that the tests of reports share; each is written once."""

from pathlib import Path

import pytest

from tests.reports.grids import ABLATIONS, Grid, write_grid


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models and the ablations on all six datasets, two seeds, nothing missing."""
    out = tmp_path_factory.mktemp("full")
    datasets = ("adftd", "apava", "ptb", "ptb-xl", "uci-har", "sleep-edf")
    write_grid(
        out, Grid(datasets=datasets, sizes={"apava": (4, 8), "uci-har": (9, 12), "sleep-edf": (4, 20)})
    )
    write_grid(out, Grid(models=ABLATIONS, datasets=("adftd",)))
    return out


@pytest.fixture(scope="session")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cell failed (transformer, ptb, 42) and one missing (patchtst, adftd, 41)."""
    out = tmp_path_factory.mktemp("partial")
    write_grid(
        out,
        Grid(failed=frozenset({("transformer", "ptb", 42)}), missing=frozenset({("patchtst", "adftd", 41)})),
    )
    return out
