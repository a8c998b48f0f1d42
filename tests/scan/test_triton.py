"""The Triton kernels without a GPU: run by Triton's interpreter, and compiled for cards that are not here."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.scan import ScanInputs
from bench.scan.triton import backend
from tests.scan.cases import random_inputs

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="no Triton for this system"
)

ROOT = Path(__file__).parents[2]
TARGETS = ("sm_80", "sm_86", "sm_90", "gfx942")
KERNELS = [("forward", False), ("forward", True), ("backward", True)]


def interpret(marks: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of the kernels in an interpreter that reads Triton's variable before its first import."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--noconftest", "-m", marks]
    return subprocess.run(
        [*command, "tests/scan/on_device.py"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_kernels_agree_with_plain_loop_when_interpreted() -> None:
    done = interpret("not slow")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_kernels_agree_at_large_sizes_when_interpreted() -> None:
    done = interpret("slow")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "keep"), KERNELS)
def test_kernels_compile_without_spills(
    kernel: str, keep: bool, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from benchmarks.scan.compiled import compile_kernel

    made = compile_kernel(kernel, target, keep=keep)
    print(f"{kernel} for {target}: {made}")
    assert made.binary > 0
    assert made.registers > 0
    assert made.spills == 0


class Driver:
    """What Triton asks of a card's driver before it starts a kernel."""

    def get_current_target(self) -> Any:
        from benchmarks.scan.compiled import TARGETS

        return TARGETS["sm_86"]

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0


class Compiling:
    """A kernel that is compiled for the arguments of a launch, and not started."""

    def __init__(self, kernel: Any, made: list[Any]) -> None:
        self.kernel, self.made = kernel, made

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        return lambda *args, **named: self.made.append(self.kernel.warmup(*args, grid=grid, **named))


def test_what_a_launch_passes_compiles_without_spills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triton.runtime import driver

    from bench.scan.triton import kernels
    from benchmarks.scan.compiled import _of_cubin

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(backend, "TILE_INTERPRETED", backend.TILE[torch.float32])
    made: list[Any] = []
    for name in ("forward", "backward"):
        monkeypatch.setattr(kernels, name, Compiling(getattr(kernels, name), made))
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in random_inputs(2, 51, 256)))
    monkeypatch.setattr(driver, "_active", Driver())
    y = backend.scan(leaves, (False, True))
    torch.autograd.grad(y.sum(), leaves)
    with torch.no_grad():
        backend.scan(leaves, (False, True))
    assert len(made) == 3
    assert [_of_cubin(kernel.asm["cubin"])[1] for kernel in made] == [0, 0, 0]


def test_a_kernel_that_spills_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from benchmarks.scan.compiled import compile_kernel

    monkeypatch.setitem(backend.TILE, torch.float32, (512, 1024))
    assert compile_kernel("backward", "sm_80").spills > 0


def test_a_cpu_is_refused_in_words() -> None:
    assert backend.obstacle("cpu") == "triton runs on CUDA and ROCm devices only"


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert str(backend.obstacle("cuda")).startswith("the package triton is not installed")


def test_a_triton_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libtriton.so: undefined symbol")

    monkeypatch.setattr("importlib.import_module", broken)
    assert backend.obstacle("cuda") == (
        "triton is installed and cannot be used: libtriton.so: undefined symbol"
    )
