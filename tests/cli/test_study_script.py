"""The script of the committed study: the command line accepts every command that it runs."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Bench

SCRIPT = Path(__file__).parents[2] / "studies" / "uci-har" / "run.sh"


@pytest.fixture
def commands(data: Path, tmp_path: Path) -> list[list[str]]:
    """Return the commands of all stages before the report, as a stand-in for ``bench`` notes them."""
    noted, stand_in = tmp_path / "noted", tmp_path / "stand-in"
    stand_in.write_text(f'#!/bin/sh\necho "$*" >> "{noted}"\n', encoding="utf-8")
    stand_in.chmod(0o755)
    stages = ("equal", "published", "ablation", "normalisation", "controls")
    subprocess.run(
        ["bash", SCRIPT, data, tmp_path / "out", *stages], env={"BENCH": str(stand_in)}, check=True
    )
    return [line.split() for line in noted.read_text(encoding="utf-8").splitlines()]


def test_every_command_is_accepted(bench: Bench, commands: list[list[str]]) -> None:
    for command in commands:
        if "subject-probe" in command:
            assert "no trained medmamba on uci-har" in bench(*command).err
        else:
            planned = bench(*command, "--dry-run")
            assert planned.code == 0, planned.err
    assert sum("subject-probe" in command for command in commands) == 1
