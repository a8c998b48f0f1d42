"""Disks that are full or read-only: each command that writes says so in one line, and leaves nothing half-written."""

import builtins
import errno
import io
import os
import re
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Bench
from tests.datasets.loopback_server import Answer, serving
from tests.report.grids import Grid, write_grid

Fault = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def full(_: Path) -> Iterator[None]:
    """Have every write of this process to a file refused, as on a full disk, by the system itself."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Have every change of a file or folder below one refused, as on a disk that is mounted read-only."""

    def refused(path: Any) -> None:
        if isinstance(path, str | os.PathLike) and Path(path).absolute().is_relative_to(folder):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def changing(real: Callable[..., Any]) -> Callable[..., Any]:
        def called(path: Any, *given: Any, **named: Any) -> Any:
            refused(path)
            return real(path, *given, **named)

        return called

    def opened(path: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        if set(mode) & set("wax+"):
            refused(path)
        return io_open(path, mode, *given, **named)

    def descriptor(path: Any, flags: int, *given: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refused(path)
        return os_open(path, flags, *given, **named)

    io_open, os_open = io.open, os.open
    with pytest.MonkeyPatch.context() as patch:
        for name in ("mkdir", "unlink", "remove", "rmdir", "rename", "replace"):
            patch.setattr(os, name, changing(getattr(os, name)))
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        patch.setattr(os, "open", descriptor)
        yield


def imported(tmp_path: Path, _: Path) -> tuple[object, ...]:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "dataset.toml").write_text(
        'name = "mine"\ntitle = "t"\nclass_names = ["a", "b"]\nchannel_names = ["x", "y", "z"]\n'
        "sampling_rate_hz = 10.0\n"
    )
    windows = np.random.default_rng(0).normal(size=(8, 5, 3)).astype(np.float32)
    subject = np.array(list("ssttuuvv"))
    np.savez(
        tmp_path / "mine" / "windows.npz",
        allow_pickle=False,
        windows=windows,
        labels=np.arange(8) // 4,
        subject=subject,
    )
    (tmp_path / "d").mkdir()
    return ("data", "import", tmp_path / "mine", "--data", tmp_path / "d")


def exported(tmp_path: Path, data: Path) -> tuple[object, ...]:
    return ("data", "export", "uci-har", tmp_path / "exported", "--data", data)


def simulated(tmp_path: Path, _: Path) -> tuple[object, ...]:
    return ("data", "simulate", "uci-har", "--data", tmp_path / "d", "--subjects", 4, "--seconds", 4)


def results(tmp_path: Path) -> Path:
    write_grid(tmp_path / "r", Grid(models=("medmamba",), datasets=("ptb",)))
    return tmp_path / "r"


def reported(tmp_path: Path, _: Path) -> tuple[object, ...]:
    return ("report", "--out", results(tmp_path))


def packed(tmp_path: Path, _: Path) -> tuple[object, ...]:
    return ("pack", "--out", results(tmp_path), "--archive", tmp_path / "pack.zip")


def cleaned(tmp_path: Path, _: Path) -> tuple[object, ...]:
    return ("clean", "--yes", "--out", results(tmp_path))


@pytest.mark.parametrize(
    ("fault", "command"),
    [
        *((full, command) for command in (imported, exported, simulated, reported, packed)),
        *((read_only, command) for command in (imported, exported, simulated, reported, packed, cleaned)),
    ],
)
def test_a_disk_that_takes_nothing_is_one_line(
    bench: Bench,
    data: Path,
    tmp_path: Path,
    fault: Fault,
    command: Callable[[Path, Path], tuple[object, ...]],
) -> None:
    words = command(tmp_path, data)
    with fault(tmp_path):
        done = bench(*words)
    assert done.code == 2, done.out + done.err
    assert re.fullmatch(r"error: .*(File too large|Read-only file system).*make room.*\n", done.err)
    assert [path.name for path in tmp_path.rglob(".*")] == []


@pytest.mark.parametrize("fault", [full, read_only])
def test_a_disk_that_takes_no_download_is_one_line(bench: Bench, tmp_path: Path, fault: Fault) -> None:
    with serving() as site, fault(tmp_path):
        site.answers["?zip="] = Answer(b"PK")
        address = ("--base-address", site.address, "--data", tmp_path / "d")
        done = bench("data", "fetch", "apava", "--yes", *address, NO_PROXY="127.0.0.1")
    assert done.code == 2
    (line,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert "File too large" in line or "Read-only file system" in line
    assert done.err.endswith(f"{line}\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]
