"""The campaign's own instruments: faults happen where they should, and what goes wrong is seen."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.campaign import shim
from benchmarks.campaign.__main__ import next_kind, play_again, undisturbed
from benchmarks.campaign.grid import Round
from benchmarks.campaign.ledger import Ledger, Part
from benchmarks.campaign.page import fault_table
from tests.datasets import fuzzing

needs_shim = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="the shim needs Linux and a C compiler"
)
WRITES = """
import sys, time
n_refused = 0
for number in range(100):
    try:
        with open(f"{sys.argv[1]}/{number}", "w") as file:
            file.write("content")
    except OSError as error:
        n_refused += 1
print(n_refused, time.time())
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shim.compiled(tmp_path_factory.mktemp("shim"))


def written(folder: Path, environment: dict[str, str]) -> tuple[int, float]:
    """Write many files in a process; return how many were refused, and what it took for the time."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-S", "-c", WRITES, str(folder)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    n_refused, now = done.stdout.split()
    return int(n_refused), float(now)


@needs_shim
def test_the_shim_refuses_some_writes_below_its_folder_and_notes_them(library: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    environment = shim.failing(library, tmp_path / "in", code=28, every=5, seed=1, ledger=ledger)
    n_refused, _ = written(tmp_path / "in", environment)
    assert 0 < n_refused < 100
    assert shim.noted(ledger) >= n_refused
    assert written(tmp_path / "out", environment)[0] == 0


@needs_shim
def test_the_shim_s_clock_is_wrong_and_by_another_amount_for_another_seed(
    library: Path, tmp_path: Path
) -> None:
    times = [
        written(tmp_path, shim.jumping(library, most_s=10**8, seed=seed, ledger=tmp_path / "ledger"))[1]
        for seed in (1, 2)
    ]
    assert abs(times[0] - times[1]) > 1000
    assert shim.noted(tmp_path / "ledger") >= 2


def round_of(folder: Path) -> tuple[Round, Path]:
    """Return a round with one finished cell, and its record."""
    record = folder / "results" / "cells" / "record.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"outcome": "ok"}))
    return Round(folder, folder / "calm", folder / "cache", random.Random(0)), record


def test_a_finished_cell_that_is_lost_or_trained_twice_is_seen(tmp_path: Path) -> None:
    this, record = round_of(tmp_path)
    this.look()
    this.look()
    assert this.problems == []
    record.write_text(json.dumps({"outcome": "ok", "again": True}))
    this.look()
    record.unlink()
    this.look()
    name = "cells/record.json"
    assert this.problems == [f"finished cell trained twice: {name}", f"finished cell lost: {name}"]


def test_a_finished_cell_that_was_damaged_on_purpose_may_be_done_again(tmp_path: Path) -> None:
    this, record = round_of(tmp_path)
    this.look()
    this.damaged.add(record.parent)
    record.unlink()
    this.look()
    assert this.problems == []


def test_an_unexpected_end_is_seen_with_its_last_words(tmp_path: Path) -> None:
    this, _ = round_of(tmp_path)
    assert this.ended(this.start(words=("--recipe", "nosuchrecipe")), allowed=(0,)) == 2
    (problem,) = this.problems
    assert problem.startswith("exit code 2: error: unknown recipe 'nosuchrecipe'")
    assert this.exits == {"2": 1}


def test_results_of_another_grid_are_not_taken_for_the_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "calm" / "results" / "cells" / "record.json"
    older.parent.mkdir(parents=True)
    older.write_text(json.dumps({"outcome": "ok"}))
    monkeypatch.setattr(Round, "ended", lambda *_, **__: 0)
    monkeypatch.setattr(Round, "start", lambda _: None)
    monkeypatch.setattr("benchmarks.campaign.__main__.incomplete", lambda _: [])
    with pytest.raises(SystemExit, match="1 cells where the grid has 4; choose another --folder"):
        undisturbed(tmp_path)


def test_a_campaign_goes_on_from_its_ledger(tmp_path: Path) -> None:
    Ledger(tmp_path / "l").add(Part("kill", {"SIGKILL: worker": 3}, [], {"0": 1}, 2.0))
    Ledger(tmp_path / "l").add(Part("kill", {"SIGKILL: run": 2}, ["hang: x"], {"SIGKILL": 2}, 1.0))
    ledger = Ledger(tmp_path / "l")
    assert (ledger.n_happened, ledger.seconds, ledger.problems) == (5, 3.0, ["kill: hang: x"])
    row = [cell.strip() for cell in fault_table(ledger).splitlines()[-1].strip("|").split("|")]
    assert row == ["kill", "2", "SIGKILL: run 2, SIGKILL: worker 3", "0 1, SIGKILL 2", "1"]


def test_every_kind_of_fault_has_its_share_before_the_quickest_come_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    played: list[str] = []
    for n_faults in (9, 0, 1, 2, 9, 9):
        played.append(next_kind(ledger, ["kill", "rival"], share=2))
        ledger.add(Part(played[-1], {"accident": n_faults}, []))
    # A round of which nothing came counts as one.
    assert played == ["kill", "rival", "rival", "kill", "kill", "kill"]


def test_rounds_with_problems_are_played_again_in_their_place(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    for kind, problems in (("kill", []), ("fill", ["hang"]), ("lose", [])):
        ledger.add(Part(kind, {"accident": 1}, problems))
    play_again(ledger, lambda kind, number: Part(kind, {"accident": 10 + number}, []))
    assert [(part.kind, part.happened["accident"]) for part in Ledger(tmp_path / "l").parts] == [
        ("kill", 1),
        ("fill", 11),
        ("lose", 1),
    ]


def test_other_windows_without_a_word_are_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(folder: Path) -> None:
        (folder / "file").write_bytes(bytes(100))

    def read(folder: Path) -> fuzzing.Read:
        path = folder / "file"
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        return fuzzing.Read(content.hex(), (len(content),))

    monkeypatch.setitem(fuzzing.KINDS, "plain", (write, read))
    found = fuzzing.run("plain", 1, 30, tmp_path)
    wrong = found["wrong"]
    assert isinstance(wrong, list)
    assert 0 < len(wrong) < 30
    assert all(line.endswith("other windows without a word") for line in wrong)
