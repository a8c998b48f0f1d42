"""Warnings of libraries stay off the terminal; a cell's log has those of its training."""

from pathlib import Path

import pytest

from tests.cli.conftest import Bench
from tests.run.conftest import OWN

READER = """
import numpy as np

np.log(np.zeros(1))
from tests.datasets.toy_dataset import FACTS, REVISION, cut, records
"""


def test_training_shows_no_warning_and_its_log_has_them(process: Bench, data: Path, tmp_path: Path) -> None:
    done = process(
        *("run", "--models", f"{OWN}:Warns", "--datasets", "uci-har", "--data", data, "--seeds", "41"),
        *("--set", "epochs=1", "--set", "batch_size=32", "--device", "cpu", "--no-efficiency"),
        *("--shard", "1/1", "--out", tmp_path / "r"),
    )
    assert done.code == 0, done.err
    assert "Warning" not in done.out + done.err
    (log,) = (tmp_path / "r").rglob("log.txt")
    assert "RuntimeWarning: a library's opinion" in log.read_text()


@pytest.mark.parametrize(("words", "shown"), [((), False), (("--debug",), True)], ids=["quiet", "debug"])
def test_reading_shows_warnings_only_when_asked(
    process: Bench, tmp_path: Path, words: tuple[str, ...], shown: bool
) -> None:
    (tmp_path / "mine.py").write_text(READER)
    done = process(*words, "run", "--datasets", tmp_path / "mine.py", "--data", tmp_path, "--dry-run")
    assert "toy" in done.out + done.err
    assert ("RuntimeWarning: divide by zero" in done.err) == shown
