"""The Triton kernels without a GPU: run by Triton's interpreter, and compiled for cards that are not here."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bench.scan.triton import backend

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
