"""Starting: heavy libraries stay out until they are needed, and neighbours with our folders' names do not matter."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Bench

HEAVY = ("torch", "sklearn", "mne", "wfdb")


def imported(code: str, cwd: Path) -> set[str]:
    program = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint('|', *sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("|")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["list", "models"],
        ["list", "datasets"],
        ["list", "presets"],
        ["list", "recipes"],
        ["run", "--help"],
    ],
    ids=" ".join,
)
def test_light_commands_import_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    modules = imported(f"from bench.cli import main; main({arguments!r})", tmp_path)
    assert "click" in modules
    assert modules.isdisjoint(HEAVY)


def test_a_dry_run_imports_nothing_heavy(data: Path, tmp_path: Path) -> None:
    arguments = ["run", "--dry-run", "--datasets", "uci-har", "--data", str(data)]
    modules = imported(f"from bench.cli import main; main({arguments!r})", tmp_path)
    assert modules.isdisjoint(HEAVY)


def test_an_installed_package_called_datasets_does_not_matter(bench: Bench, tmp_path: Path) -> None:
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


def test_no_arguments_shows_help(bench: Bench) -> None:
    done = bench()
    assert "Commands:" in done.out + done.err


def test_an_unknown_command_is_usage(bench: Bench) -> None:
    assert bench("rnu").code == 2
