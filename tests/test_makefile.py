"""What the Makefile installs for whom; nothing is run."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def commands_of(folder: Path, *arguments: str) -> str:
    """Return what make would run in a fresh copy."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    done = subprocess.run(
        ["make", "--dry-run", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def extras(commands: str) -> set[str]:
    return {one for group in re.findall(r'"\.\[([^\]]*)\]"', commands) for one in group.split(",")}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], set()),
        (["install"], set()),
        (["test"], {"test", "lint"}),
        (["lint"], {"test", "lint"}),
        (["docs"], {"docs"}),
        (["install", "CUDA=1"], {"cuda"}),
        (["test", "CUDA=1"], {"cuda", "test", "lint"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_each_target_installs_what_it_needs(tmp_path: Path, arguments: list[str], expected: set[str]) -> None:
    commands = commands_of(tmp_path, *arguments)
    assert extras(commands) == expected
    assert ("--constraint constraints.txt" in commands) == ("CUDA=1" not in arguments)


def test_the_cuda_scan_is_built_against_the_torch_installed_before(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = next(one for one in project["optional-dependencies"]["cuda"] if one.startswith("torch"))
    commands = commands_of(tmp_path, "install", "CUDA=1").splitlines()
    (torch,) = [at for at, line in enumerate(commands) if f'"{wanted}"' in line]
    (scan,) = [at for at, line in enumerate(commands) if ".[cuda]" in line]
    assert torch < scan
    assert {"MAMBA_KEEP_CUDA_BUILD=TRUE", "--no-build-isolation"} <= set(commands[scan].split())


def test_the_oldest_versions_are_the_lowest_that_are_allowed(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = (re.match(r"([\w-]+)>=([\d.]+)", text) for text in project["dependencies"])
    lowest = {bound[1]: bound[2] for bound in bounds if bound}
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned
    for name, version in pinned.items():
        assert version in (lowest[name], f"{lowest[name]}.0"), name
    shutil.copy(ROOT / "constraints-oldest.txt", tmp_path)
    assert "--constraint constraints-oldest.txt" in commands_of(tmp_path, "test-oldest")


def test_the_documents_name_targets_that_there_are() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/cuda.md", "benchmarks/README.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, f"{document} names {named - targets}"


def test_the_image_is_made_and_run_by_targets_that_there_are(tmp_path: Path) -> None:
    text = (ROOT / ".devcontainer" / "Dockerfile").read_text(encoding="utf-8")
    (installed,) = re.findall(r"^RUN make (.+)$", text, re.MULTILINE)
    (run,) = re.findall(r'^CMD \["make", "(.+)"\]$', text, re.MULTILINE)
    assert extras(commands_of(tmp_path, *installed.split())) == {"test", "lint"}
    assert "bench run" in commands_of(tmp_path, run)
