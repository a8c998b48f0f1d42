"""The C kernel: every instruction set, its build at first use, its threads. Needs a C compiler."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.errors import ModelError
from bench.native import build, threads
from bench.native.library import ISA_NAMES, Library
from bench.scan import ScanInputs, selective_scan
from bench.scan.native import backend
from bench.scan.native.build import KERNEL
from bench.scan.native.library import SCAN, ScanArgs
from tests.scan.cases import TOLERANCE, assert_close, needs_compiler, random_inputs, run

pytestmark = needs_compiler

SCAN_ONCE = """
    import logging, sys
    logging.basicConfig(format="%(message)s")
    from bench.scan import choose_backend, selective_scan
    from tests.scan.cases import random_inputs
    print(choose_backend("auto", "cpu"))
    for _ in range(2):
        selective_scan(random_inputs(), reverse=(False, True))
"""


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start a fresh interpreter, in which nothing has been chosen or compiled yet."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what a process printed and logged, once it has ended well."""
    printed, logged = process.communicate(timeout=300)
    assert process.returncode == 0, logged
    return printed.strip(), logged


def test_with_a_compiler_nothing_is_in_the_way() -> None:
    assert backend.obstacle("cpu") is None


@pytest.fixture
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    position = ISA_NAMES.index(request.param)
    if position > SCAN.best_isa:
        pytest.skip(f"this machine has no {request.param}")
    monkeypatch.setattr(SCAN, "best_isa", position)
    return request.param


@pytest.mark.parametrize("isa", ISA_NAMES, indirect=True)
@pytest.mark.parametrize("shape", [{}, {"n_times": 70, "dim": 37, "d_state": 5}])
def test_every_instruction_set_agrees(isa: str, shape: dict[str, Any]) -> None:
    inputs = random_inputs(**shape)
    exact = run(ScanInputs(*(tensor.double() for tensor in inputs)), "reference")
    assert_close(run(inputs, "native"), exact, TOLERANCE[torch.float32])


@pytest.mark.parametrize("isa", ISA_NAMES, indirect=True)
def test_every_instruction_set_passes_nan_and_infinity(isa: str) -> None:
    inputs = random_inputs(batch=4)
    inputs.delta[0, 3, 0, 0], inputs.delta[1, 3, 1, 1] = float("nan"), float("inf")
    inputs.B[2, 5, 0, 2], inputs.A[0, 1, 1], inputs.A[1, 2, 3] = float("inf"), float("-inf"), float("nan")
    y, exact = (
        selective_scan(inputs, reverse=(False, True), backend=name) for name in ("native", "reference")
    )
    assert torch.equal(y.isnan(), exact.isnan())
    assert torch.equal(y.isinf(), exact.isinf())


def test_d_state_over_the_limit_is_refused() -> None:
    with pytest.raises(ModelError, match=r"d_state up to 256, got 257; use scan=torch"):
        selective_scan(random_inputs(dim=1, d_state=257), reverse=(False, True), backend="native")


@pytest.mark.parametrize("batch", [1, 5, 33, 70])
def test_bytes_do_not_depend_on_threads(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = random_inputs(batch=batch)
    results = []
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda n_threads=n_threads: n_threads)
        results.append(run(inputs, "native"))
    for other in results[1:]:
        assert all(torch.equal(other[key], array) for key, array in results[0].items())


def test_leaves_torch_threads_alone() -> None:
    before = torch.get_num_threads(), torch.get_num_interop_threads()
    run(random_inputs(), "native")
    assert (torch.get_num_threads(), torch.get_num_interop_threads()) == before


def test_ranges_are_all_samples_and_start_at_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    ranges: list[range] = []
    threads.for_each(ranges.append, 70, 4)
    ordered = sorted(ranges, key=lambda one: one.start)
    assert [sample for one in ordered for sample in one] == list(range(70))
    assert len(ranges) == 3
    assert all(one.start % 4 == 0 for one in ranges)


def test_error_of_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(samples: range) -> None:
        raise MemoryError(f"no memory for {samples}")

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.raises(MemoryError, match="no memory for"):
        threads.for_each(fail, 8, 1)


def test_no_range_is_left_running_when_another_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    through = threading.Event()

    def work(samples: range) -> None:
        if samples.start == 0:
            raise MemoryError("no memory")
        time.sleep(0.2)
        through.set()

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.raises(MemoryError, match="no memory"):
        threads.for_each(work, 8, 1)
    assert through.is_set()


@pytest.mark.slow
def test_stays_inside_its_memory(tmp_path: Path) -> None:
    sanitizer = subprocess.run(
        [*build.find_compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(sanitizer).is_absolute():
        pytest.skip("this compiler has no address sanitizer")
    code = """
        from bench.native import build
        from bench.scan.native.library import SCAN
        build.FLAGS += ("-O1", "-Wall", "-Wextra", "-Werror")  # at -O3 sanitizers compile for minutes
        build.FLAGS += ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
        from tests.scan.cases import random_inputs, run
        for isa in range(SCAN.best_isa + 1):
            SCAN.best_isa = isa
            for shape in ({"batch": 5, "n_times": 67, "dim": 37, "d_state": 5}, {"n_times": 1}, {"dim": 1}):
                run(random_inputs(**shape), "native")
        print("clean")
    """
    quiet = {"ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc", "OMP_NUM_THREADS": "1"}
    process = python(code, LD_PRELOAD=sanitizer, BENCH_CACHE=str(tmp_path), **quiet)
    assert finish(process)[0] == "clean"


@pytest.mark.usefixtures("cache")
def test_limits_are_the_callers() -> None:
    limits = {name: limit for name, limit in KERNEL.limits.items() if name != "MAX_CHUNK"}
    with pytest.raises(build.BuildError, match="give MAX_STATE, MAX_CHUNK and PADDED_LANES"):
        build.library_path(KERNEL._replace(limits=limits))


def test_runs_in_a_fork_after_use() -> None:
    code = """
        import os, torch
        from tests.scan.cases import random_inputs, run
        torch.get_num_threads = lambda: 2
        inputs = random_inputs(batch=8)
        before = run(inputs, "native")["y"]
        child = os.fork()
        if child == 0:
            os._exit(0 if torch.equal(run(inputs, "native")["y"], before) else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    built_before = Path(SCAN.loaded._name).parents[1]
    process = python(code, PYTHONWARNINGS="ignore", BENCH_CACHE=str(built_before))
    assert finish(process)[0] == "0"


def test_is_built_once_and_found_again(cache: Path) -> None:
    built = build.library_path(KERNEL)
    stamp = built.stat().st_mtime_ns
    assert built.parent == cache / "native"
    assert build.library_path(KERNEL) == built
    assert built.stat().st_mtime_ns == stamp


def test_key_is_made_of_flags_source_and_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = build.find_compiler()
    other_compiler = tmp_path / "cc"
    other_compiler.symlink_to(compiler[0])
    keys = {build.key(KERNEL, compiler), build.key(KERNEL, [str(other_compiler)])}
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-DOTHER"))
    keys.add(build.key(KERNEL, compiler))
    keys.add(build.key(KERNEL._replace(sources=KERNEL.sources[:1]), compiler))
    monkeypatch.setattr(build, "HEADERS", build.HEADERS[:1])
    keys.add(build.key(KERNEL, compiler))
    assert len(keys) == 5


def test_arguments_in_cc_are_split(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plain,) = build.find_compiler()
    monkeypatch.setenv("CC", f"{plain} -pthread '-DA=b c'")
    assert build.find_compiler() == (plain, "-pthread", "-DA=b c")
    assert build.library_path(KERNEL).is_file()


def test_two_processes_build_at_once(cache: Path) -> None:
    both = [python(SCAN_ONCE), python(SCAN_ONCE)]
    assert [finish(process) for process in both] == [("native", "")] * 2
    assert [file.suffix for file in (cache / "native").iterdir()] == [".so"]


def test_without_compiler_auto_is_torch_and_says_so_once(tmp_path: Path) -> None:
    printed, logged = finish(python(SCAN_ONCE, PATH=str(tmp_path)))
    assert printed == "torch"
    assert logged.splitlines() == [
        "scan: native is not available on cpu (no C compiler: cc, gcc, clang not found; install one or set CC); "
        "using the slower torch backend"
    ]


def test_without_compiler_native_is_refused(tmp_path: Path) -> None:
    code = """
        from bench.errors import ModelError
        from bench.scan import choose_backend
        try:
            choose_backend("native", "cpu")
        except ModelError as error:
            print(error)
    """
    printed, _ = finish(python(code, PATH=str(tmp_path)))
    assert printed.startswith("scan=native cannot run on cpu: no C compiler")


def test_failing_compiler_is_quoted(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "broken-cc"
    compiler.write_text(
        "#!/bin/sh\n[ $1 = --version ] && exit 0\necho 'internal error 42' >&2\necho ' | ^^^' >&2\nexit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(build.BuildError, match=r"broken-cc failed with status 1: internal error 42"):
        build.library_path(KERNEL)
    assert list((cache / "native").iterdir()) == []


def test_a_compiler_that_is_no_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "cc"
    compiler.write_bytes(b"\x7fELF of another machine")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(build.BuildError, match=r"cc cannot be run \(Exec format error\); set CC"):
        build.library_path(KERNEL)


def test_missing_compiler_of_the_user_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(build.BuildError, match=r"no-such-compiler not found; install one or set CC"):
        build.library_path(KERNEL)


def test_unwritable_cache_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", "/proc/self/nowhere")
    with pytest.raises(build.BuildError, match=r"/proc/self/nowhere/native.*BENCH_CACHE"):
        build.library_path(KERNEL)


def test_full_cache_leaves_nothing_behind(cache: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    code = limit + textwrap.dedent(SCAN_ONCE)
    printed, logged = finish(python(code))
    assert printed == "torch"
    assert len(logged.splitlines()) == 1
    assert list((cache / "native").iterdir()) == []


def test_damaged_kernel_is_named(cache: Path) -> None:
    damaged = cache / "native" / f"scan-{build.key(KERNEL, build.find_compiler())}.so"
    damaged.parent.mkdir()
    damaged.write_bytes(b"not a library")
    with pytest.raises(build.BuildError, match=r"scan-\w+\.so: cannot be loaded .*delete it and try again"):
        _ = Library(KERNEL, ScanArgs, ()).loaded
