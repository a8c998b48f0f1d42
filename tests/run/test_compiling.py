"""Kernels are compiled before the cells that use them, and only those."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.run.cells.compiling import kernels_of


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (["medmamba"], {"scan", "dropout"}),
        (["transformer", "linear"], {"attention", "dropout"}),
        (["fcn"], {"dropout"}),
        (["linear", "minirocket"], set()),
    ],
)
def test_kernels_of_models(models: list[str], expected: set[str]) -> None:
    assert kernels_of(models, "cpu") == expected
    assert kernels_of(models, "cuda") == set()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(("variables", "expected"), [({}, ["dropout"]), ({"BENCH_DROPOUT": "numpy"}, [])])
def test_the_cache_holds_what_is_used(variables: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    code = "from bench.run.cells.compiling import compile_kernels; compile_kernels(['dropout'], None)"
    environment = {**os.environ, "BENCH_CACHE": str(tmp_path), **variables}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert [path.name.partition("-")[0] for path in tmp_path.glob("native/*.so")] == expected
