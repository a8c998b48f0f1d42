"""Mutated files never crash a reader, take its memory, keep it waiting or come out as anything but one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.datasets.fuzzing import KINDS

SEED, COUNT, LONGEST_S = 11, 40, 900
# Every sample is in a checksum, and the tables are compared with what they name.
CHECKED_THROUGHOUT = ("ptb-xl",)


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.datasets.fuzzing", kind, str(SEED), str(COUNT), str(tmp_path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert outcomes["wrong"] == []
    assert outcomes["same"] + outcomes["other values"] + outcomes["refused"] == COUNT
    assert outcomes["refused"] > 0
    assert kind not in CHECKED_THROUGHOUT or outcomes["other values"] == 0
