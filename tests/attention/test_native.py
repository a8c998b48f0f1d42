"""The C kernel of attention: every instruction set, its threads, its memory. Needs a C compiler."""

import subprocess
from pathlib import Path

import pytest
import torch

from bench.attention.native.library import ATTENTION
from bench.native import build
from bench.native.library import ISA_NAMES
from tests.attention.cases import TOLERANCE, assert_close, needs_compiler, random_inputs, results
from tests.scan.test_native import finish, python

pytestmark = needs_compiler


@pytest.fixture
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    position = ISA_NAMES.index(request.param)
    if position > ATTENTION.best_isa:
        pytest.skip(f"this machine has no {request.param}")
    monkeypatch.setattr(ATTENTION, "best_isa", position)
    return request.param


@pytest.mark.parametrize("isa", ISA_NAMES, indirect=True)
@pytest.mark.parametrize("shape", [(37, 41, 5, 19), (80, 130, 16, 17), (3, 2, 1, 33)])
def test_every_instruction_set_agrees(isa: str, shape: tuple[int, ...]) -> None:
    inputs = random_inputs(*shape)
    assert_close(results(inputs.float(), "native"), results(inputs, "reference"), TOLERANCE[torch.float32])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_bytes_do_not_depend_on_threads(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = random_inputs(batch=5).to(dtype)
    found = []
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda n_threads=n_threads: n_threads)
        found.append(results(inputs, "native"))
    for other in found[1:]:
        assert all(torch.equal(tensor, first) for tensor, first in zip(other, found[0], strict=True))


def test_bytes_do_not_depend_on_other_windows() -> None:
    # What is dropped does, by the pair's number; so without dropout.
    inputs = random_inputs(batch=2).float()
    both = results(inputs, "native", 0.0)
    first = results(type(inputs)(*(tensor[:1] for tensor in inputs)), "native", 0.0)
    assert all(torch.equal(tensor[:1], alone) for tensor, alone in zip(both, first, strict=True))


@pytest.mark.slow
def test_stays_inside_its_memory(tmp_path: Path) -> None:
    sanitizer = subprocess.run(
        [*build.find_compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(sanitizer).is_absolute():
        pytest.skip("this compiler has no address sanitizer")
    code = """
        import torch
        from bench.native import build
        from bench.attention.native.library import ATTENTION
        from bench.dropout import Dropped, drop
        from bench.dropout.native.backend import DROPOUT
        build.FLAGS += ("-O1", "-Wall", "-Wextra", "-Werror")  # at -O3 sanitizers compile for minutes
        build.FLAGS += ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
        from tests.attention.cases import random_inputs, results
        for isa in range(ATTENTION.best_isa + 1):
            ATTENTION.best_isa = DROPOUT.best_isa = isa
            for shape in ((37, 41, 5, 19), (1, 1, 1, 1), (80, 130, 17, 16), (16, 64, 16, 16)):
                for dtype in (torch.float32, torch.float64):
                    results(random_inputs(*shape).to(dtype), "native")
            for n in (1, 127, 128, 1000):
                drop(torch.ones(n), Dropped.at(0.5, 7), backend="native")
        print("clean")
    """
    quiet = {"ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc", "OMP_NUM_THREADS": "1"}
    process = python(code, LD_PRELOAD=sanitizer, BENCH_CACHE=str(tmp_path), **quiet)
    assert finish(process)[0] == "clean"
