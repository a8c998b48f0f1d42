"""`make gpu-check` as far as a CPU takes it. Untested on GPU."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_check
from benchmarks.gpu_check import Step
from benchmarks.scan import on_gpu
from benchmarks.scan.cases import Shape
from tests.cli.commands import parse

ROOT = Path(__file__).parents[1]


def python(code: str, limit_s: int = 60) -> Step:
    return Step(code, (sys.executable, "-c", code), limit_s)


def test_commands_can_be_typed(tmp_path: Path) -> None:
    commands = [step.command for step in gpu_check.steps(tmp_path, "cuda")]
    ours = [command[len(gpu_check.BENCH) :] for command in commands if command[:3] == gpu_check.BENCH]
    assert [words[0] for words in ours] == ["doctor", "efficiency", "run", "pack"]
    for words in ours:
        parse(list(words))


def test_modules_and_files_of_the_commands_exist(tmp_path: Path) -> None:
    words = [word for step in gpu_check.steps(tmp_path, "cuda") for word in step.command]
    for word in words:
        if word.startswith("benchmarks."):
            assert (ROOT / f"{word.replace('.', '/')}.py").exists()
        if word.startswith("tests/"):
            assert (ROOT / word).exists()


def test_all_steps_fit_in_eight_minutes(tmp_path: Path) -> None:
    assert sum(step.limit_s for step in gpu_check.steps(tmp_path, "cuda")) <= 8 * 60


def test_what_fails_is_written_down_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = (
        python("print('well')"),
        python("raise SystemExit('no card')"),
        python("import time; print('begun', flush=True); time.sleep(60)", limit_s=3),
        python("print('last')"),
    )
    monkeypatch.setattr(gpu_check, "steps", lambda *_: tries)
    assert gpu_check.check(tmp_path / "out", "cuda") == 1
    record = json.loads((tmp_path / "out/analyses/gpu-check/gpu-check.json").read_text(encoding="utf-8"))
    assert [step["outcome"] for step in record["steps"]] == [
        "ok",
        "failed with status 1",
        "stopped after 3 s",
        "ok",
    ]
    assert [step["said"] for step in record["steps"]] == [["well"], ["no card"], ["begun"], ["last"]]
    assert "| raise SystemExit('no card') | failed with status 1 |" in capsys.readouterr().out


def test_a_step_is_stopped_with_what_it_has_started() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    assert gpu_check.run_step(python(code, limit_s=3))["seconds"] < 300


def test_without_a_gpu_it_says_what_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu_check"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu_check.main() == 2
    assert "finds no GPU; it takes a card, its driver" in capsys.readouterr().err


def test_results_that_are_there_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu_check", "--out", str(tmp_path)])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert gpu_check.main() == 2
    assert f"{tmp_path} is there already" in capsys.readouterr().err


def test_scans_are_compared_with_the_plain_loop() -> None:
    rows = on_gpu.compare("cpu", [Shape(2, 5)], rounds=2)
    assert "torch" in {row["scan"] for row in rows}
    assert all(0 <= row["error_of_y"] <= 1e-5 and row["error_of_gradients"] <= 1e-5 for row in rows)
    assert all(row["forward_ms"] > 0 for row in rows)
    assert "reference" not in {row["scan"] for row in rows}
    assert len(on_gpu.table(rows)) == 2 + len(rows)


def test_a_wrong_scan_shows_in_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = on_gpu.contenders()["torch"]

    def doubled(*args: Any) -> torch.Tensor:
        return 2 * scan(*args)

    monkeypatch.setattr(on_gpu, "contenders", lambda: {"reference": scan, "torch": doubled})
    (row,) = on_gpu.compare("cpu", [Shape(2, 5)], rounds=1)
    assert row["error_of_y"] == pytest.approx(1.0, rel=1e-3)


def test_make_installs_plainly_and_runs_it() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "gpu-check", "GPU_CHECK=--out here"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "constraints.txt" not in done.stdout
    assert "-m benchmarks.gpu_check --out here" in done.stdout
