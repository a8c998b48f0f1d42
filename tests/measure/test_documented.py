"""The table of operations in the documents is what the program counts."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.measure.flops import count_flops
from bench.measure.measurement import measured_names, place_of, subject_of, task_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "efficiency.md"


def documented(model: str) -> list[str]:
    """Return the cells of a model's row: millions at 256, 512 and 3000 steps, and of the first scan and transforms."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| {model} |"))
    return [cell.strip().replace(",", "") for cell in row.strip("|").split("|")][1:]


@pytest.mark.parametrize("model", measured_names("all"))
def test_operations_of_the_documents_are_the_programs(model: str) -> None:
    task = task_of("adftd")
    subject = subject_of(model, task, "script", "paper", place_of("cpu", 1, None))
    counted = count_flops(subject.build, task.n_times, task.n_channels)
    in_millions = [
        f"{counted.total / 1e6:.0f}",
        f"{counted.scans / 1e6:.1f}",
        f"{counted.transforms / 1e6:.1f}",
    ]
    shown = documented(model)
    assert [shown[0], *shown[3:]] == in_millions


@pytest.mark.slow
@pytest.mark.parametrize(("column", "n_times"), [(1, 512), (2, 3000)])
@pytest.mark.parametrize("model", measured_names("all"))
def test_operations_of_longer_windows_are_the_programs(model: str, column: int, n_times: int) -> None:
    subject = subject_of(model, task_of("adftd"), "script", "paper", place_of("cpu", 1, None))
    counted = count_flops(replace(subject, n_times=n_times).build, n_times, subject.n_channels)
    assert documented(model)[column] == f"{counted.total / 1e6:.0f}"
