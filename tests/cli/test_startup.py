"""Starting: heavy libraries stay out until they are needed, and neighbours with our folders' names do not matter."""

import json
import subprocess
import sys
from pathlib import Path

from bench.analyses.registry import analyses
from tests.cli.conftest import Bench

HEAVY = ("torch", "sklearn", "mne", "wfdb", "bench.analyses.scaling.compute")
PROGRAM = """
import json, sys
from bench.cli import main

for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as end:
        print(f"| {end.code}", *sys.modules)
"""
LIGHT = [
    ["--help"],
    ["run", "--help"],
    ["analyze", "--help"],
    ["efficiency", "--help"],
    ["list", "models"],
    ["list", "datasets"],
    ["list", "presets"],
    ["list", "recipes"],
]


def test_light_commands_import_nothing_heavy(data: Path, tmp_path: Path) -> None:
    """One process runs them all: what one imports is found after it, and the first to do so is named."""
    commands = [*LIGHT, ["run", "--dry-run", "--datasets", "uci-har", "--data", str(data)]]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ends = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(ends) == len(commands)
    for command, (code, *modules) in zip(commands, ends, strict=True):
        assert code == "0", command
        assert "click" in modules, command
        assert set(modules).isdisjoint(HEAVY), command
    assert all(name in done.stdout for name in analyses() if name != "efficiency")


def test_an_installed_package_called_datasets_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "site" / "datasets").mkdir(parents=True)
    (tmp_path / "site" / "datasets" / "__init__.py").write_text(
        "raise ImportError('somebody imported datasets')\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "bench", "list", "datasets"],
        cwd=root,
        env={"PYTHONPATH": f"{tmp_path / 'site'}:{root}", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ptb-xl" in done.stdout


def test_the_links_at_the_top_show_the_package() -> None:
    root = Path(__file__).parents[2]
    for name in ("models", "datasets"):
        assert (root / name).is_symlink()
        assert (root / name).resolve() == root / "bench" / name


def test_no_arguments_shows_help(process: Bench) -> None:
    done = process()
    assert "Commands:" in done.out + done.err


def test_errors_of_usage_and_of_input_are_one_line_of_their_exit_code(process: Bench) -> None:
    """As a shell sees them; other tests ask the same within their process."""
    assert process("rnu").code == 2
    done = process("run", "--models", "transformr")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: unknown model 'transformr'")
    assert len(done.err.splitlines()) == 1


def test_ctrl_c_during_the_first_imports_is_one_line(process: Bench, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = process("list", "models")
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")
