"""The tree is as CONTRIBUTING describes it: its rooms, its sizes, and a file for each subject."""

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"
MODULES = sorted(path for path in BENCH.rglob("*.py") if path.name != "__init__.py")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

# Their folder names the subject: an analysis, a command, a dataset's simulator, a backend's kernel.
NAMED_BY_FOLDER = ("analyses", "cli", "simulate", "native", "triton")
# What several rooms have each of their own.
ROLES = {"battery", "catalogue", "contract", "dispatch", "record", "reference", "registry", "store"}


def test_the_map_names_every_room_and_no_other() -> None:
    rooms = {path.name for path in BENCH.iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^\| `bench/(\w+)` \|", CONTRIBUTING, re.MULTILINE)) == rooms


def test_no_file_stem_stands_in_two_folders() -> None:
    folders = defaultdict(set)
    for path in MODULES:
        if not any(name in path.parts for name in NAMED_BY_FOLDER):
            folders[path.stem].add(path.parent)
    doubled = {stem for stem, found in folders.items() if len(found) > 1}
    assert doubled <= ROLES


def test_no_folder_shows_more_than_25_modules() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) for folder in {path.parent for path in MODULES}}
    assert {folder.name: n_files for folder, n_files in counts.items() if n_files > 26} == {}


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a file imports."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name for name in found if name.split(".")[0] == "bench"}


def test_no_module_imports_more_than_15_of_ours() -> None:
    assert {path.name: len(imported(path)) for path in MODULES if len(imported(path)) > 15} == {}


def test_no_variable_is_called_one() -> None:
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        assert "one" not in names, path


PLUG_IN = """
from bench.analyses import contract
from bench.analyses.analysis_record import AnalysisRecord


class MeanRecord(AnalysisRecord):
    mean: float

    @property
    def stem(self) -> str:
        return "mean"


ANALYSIS = contract.Analysis(
    name="mean-of-three",
    title="The mean of three numbers",
    summary="Averages 1, 2 and 6.",
    examples=("bench analyze mean-of-three",),
    options=contract.Options,
    record=MeanRecord,
    package="bench.analyses.mean_of_three",
    is_judged=False,
)
"""
COMPUTE = """
def run(context, options):
    from bench.analyses.mean_of_three.record import MeanRecord
    context.write(MeanRecord(mean=3.0))
"""
REPORT = """
from bench.analyses.contract import Shown
from bench.render.table import Block, Cell, Row, Table


def report(out, records):
    row = Row("mean", (Cell(records[0].mean),))
    return Shown([Table(name="mean", title="Mean", columns=("value",), blocks=(Block("", (row,)),), caption="")])
"""
FIGURE = """
NAME, POSITION = "empty", 9


def figure(tested, name):
    return None
"""
COMMAND = '''"""``bench hello``: Say hello."""

import click


@click.command("hello")
def command() -> None:
    """Say hello."""
    click.echo("hello")
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package in a folder of its own, with an analysis, a figure and a command added as CONTRIBUTING says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(BENCH, folder / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    analysis = folder / "bench" / "analyses" / "mean_of_three"
    analysis.mkdir()
    for name, text in (
        ("__init__.py", ""),
        ("record.py", PLUG_IN),
        ("compute.py", COMPUTE),
        ("report.py", REPORT),
    ):
        (analysis / name).write_text(text, encoding="utf-8")
    registry = folder / "bench" / "analyses" / "registry.py"
    lines = registry.read_text(encoding="utf-8").replace(
        '    "scaling",\n', '    "scaling",\n    "mean_of_three",\n'
    )
    registry.write_text(lines, encoding="utf-8")
    (folder / "bench" / "report" / "figures" / "empty.py").write_text(FIGURE, encoding="utf-8")
    (folder / "bench" / "cli" / "hello.py").write_text(COMMAND, encoding="utf-8")
    return folder


def bench(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_command_is_one_file(copy: Path) -> None:
    assert "hello        Say hello." in bench(copy, "--help")
    assert bench(copy, "hello") == "hello\n"


def test_an_analysis_is_its_folder_and_a_line(copy: Path) -> None:
    assert "Averages 1, 2 and 6." in bench(copy, "analyze", "--help")
    assert "3.00" in bench(copy, "analyze", "mean-of-three", "--out", str(copy / "out"))
    assert (copy / "out" / "analyses" / "mean-of-three" / "mean.json").is_file()


def test_a_figure_is_one_file(copy: Path) -> None:
    code = "from bench.report.sections.dataset import _modules; print([module.NAME for module in _modules()])"
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=True)
    assert "'empty']" in done.stdout


def test_a_metric_is_a_field_a_value_and_a_heading(copy: Path) -> None:
    for name, old, new in (
        (
            "results/record.py",
            "    auprc: float | None\n",
            "    auprc: float | None\n    kappa: float | None = None\n",
        ),
        ("results/metrics.py", '    "auprc": "AUPRC",\n', '    "auprc": "AUPRC",\n    "kappa": "Kappa",\n'),
        (
            "train/scores.py",
            "        auprc=_mean_of_known([class_name.auprc for class_name in classes]),\n",
            "        auprc=_mean_of_known([class_name.auprc for class_name in classes]),\n        kappa=0.25,\n",
        ),
    ):
        path = copy / "bench" / name
        text = path.read_text(encoding="utf-8")
        head, sep, tail = text.rpartition(old)
        assert sep, name
        path.write_text(f"{head}{new}{tail}", encoding="utf-8")
    out = copy / "results"
    shutil.copytree(ROOT / "tests" / "golden" / "results_3b72bbe", out)
    assert "transformer / apava / seed 41 / published: kappa" in bench(copy, "rescore", str(out))
    bench(copy, "report", "--out", str(out))
    tables = out / "report" / "tables"
    assert "Kappa,25.0," in (tables / "main-apava.csv").read_text(encoding="utf-8")
