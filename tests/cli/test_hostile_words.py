"""Words and folders that no command can use: one line, at once."""

import errno
import importlib.util
import os
from pathlib import Path

import pytest

from bench import plugins
from bench.datasets.simulate import cohort
from bench.errors import BenchError, ModelError, UsageError
from bench.files import cache_root
from bench.models.registry import register_file
from bench.run.evaluation import read_tensors
from tests.cli.conftest import Bench


@pytest.mark.parametrize("value", ["nan", "inf", "1e999"])
def test_a_time_limit_is_a_finite_number(bench: Bench, value: str) -> None:
    done = bench("run", "--cell-timeout", value, "--dry-run")
    assert done.code == 2
    assert "is not a finite number" in done.err


def test_status_of_a_folder_that_is_not_there_says_so(bench: Bench, tmp_path: Path) -> None:
    done = bench("status", "--out", tmp_path / "nowhere")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == f"error: {tmp_path / 'nowhere'}: no such results folder; give the one of a run with --out\n"
    )


def test_homes_that_there_are_not_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="cannot be used as a file"):
        plugins.existing("~nosuchuser/net.py")
    monkeypatch.setenv("BENCH_CACHE", "~nosuchuser/cache")
    with pytest.raises(BenchError, match="BENCH_CACHE=~nosuchuser/cache: no such home"):
        cache_root()


@pytest.mark.parametrize("name", ["a\0b.py", "x" * 5000 + ".py", "a\nb.py"])
def test_names_that_no_file_can_have_are_one_line(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        plugins.existing(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "default", ["1e999", "{1, 2}", "b'x'", "1j", "...", "9" * 5000, "(" * 500 + ")" * 500]
)
def test_model_defaults_that_json_cannot_say_are_refused(tmp_path: Path, default: str) -> None:
    path = tmp_path / "net.py"
    arguments = f"n_channels, n_times, n_classes, width={default}"
    path.write_text(f"class Net:\n    def __init__(self, *, {arguments}):\n        pass\n")
    with pytest.raises(ModelError, match=r"JSON can hold|not readable as Python"):
        register_file(f"{path}:Net")


@pytest.mark.parametrize("content", [b"", b"text of no kind\n", b"PK\x03\x04", b"\x80\x02."])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_checkpoints_that_are_none_are_one_line(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"net{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"not a file of plain tensors|not a safetensors file") as raised:
        read_tensors(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_is_one_line(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_given: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code), str(tmp_path / "d"))

    monkeypatch.setattr(cohort, "simulate", refuse)
    done = bench("data", "simulate", "uci-har", "--data", tmp_path)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert f"{tmp_path / 'd'}: {os.strerror(code)}; make room" in done.err


def test_other_platforms_are_told_which_are_supported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "fcntl" else find(name))
    done = bench("list", "models")
    assert done.code == 2
    assert "runs on Linux and macOS only" in done.err
