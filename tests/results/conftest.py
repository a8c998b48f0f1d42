"""The paper's LaTeX source, for tests that hold the package against it."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def paper() -> str:
    """Return the source; skip where it is not at hand."""
    beside_data = Path(os.environ.get("BENCH_TEST_DATA", "")).parent / "paper" / "medmamba.tex"
    path = Path(os.environ.get("BENCH_TEST_PAPER", beside_data))
    if not path.is_file():
        pytest.skip("the paper's LaTeX source is not here: set BENCH_TEST_PAPER to its path")
    return path.read_text(encoding="utf-8")
