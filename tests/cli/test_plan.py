"""``bench plan`` and what ``bench run --dry-run`` expects."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Bench
from tests.run.conftest import OWN

pytestmark = pytest.mark.usefixtures("unreported")


def grid(data: Path, models: str) -> list[object]:
    return ["--models", models, "--datasets", "uci-har", "--data", data, "--out", "r"]


def test_plan_tries_each_kind_once_and_uses_records_afterwards(bench: Bench, data: Path) -> None:
    arguments = [*grid(data, "transformer"), *SMALL, "--seeds", "41-43"]
    tried = bench("plan", *arguments, "--budget", "1")
    assert tried.code == 0, tried.err
    assert tried.err.count("tried transformer on uci-har") == 1
    assert re.search(
        r"transformer +uci-har +3 cells +\S+ s, [0-9.]+ GiB, give or take .* \(a trial", tried.out
    )
    assert "in all: " in tried.out

    assert bench("run", *grid(data, "transformer"), *SMALL).code == 0
    known = bench("plan", *arguments)
    assert "tried" not in known.err
    assert re.search(r"transformer +uci-har +2 cells .* \(1 record\)", known.out)

    dry = bench("run", "--dry-run", *arguments[:-2], "--seeds", "41-43")
    assert re.search(r"seed 42 .* to do  \S+ s, [0-9.]+ GiB, give or take \d+ % \(1 record\)", dry.out)
    assert "3 cells: 1 done, 2 to do" in dry.out
    assert re.search(r"in all: \S+ s of cells, .* GiB at once", dry.out)


def test_a_trial_that_fails_is_said_and_the_others_are_told(bench: Bench, data: Path) -> None:
    done = bench("plan", *grid(data, f"{OWN}:Raises,{OWN}:Good"), "--seeds", "41", "--device", "cpu")
    assert done.code == 0, done.err
    assert "Unpicklable: mistake 42" in done.out
    assert re.search(r"Good +uci-har +1 cells +(at most )?\S+ s, ", done.out)
    assert "not counted: 1 cells" in done.out


@pytest.mark.parametrize(("option", "n_cells"), [([], 12), (["--no-ablation"], 3)])
def test_the_ablation_belongs_to_medmamba_on_adftd(bench: Bench, option: list[str], n_cells: int) -> None:
    done = bench(
        "run", "--dry-run", "--preset", "demo", "--models", "medmamba", "--datasets", "adftd", *option
    )
    assert done.code == 0, done.err
    assert f"{n_cells} cells: {n_cells} not prepared" in done.out


def test_an_address_without_ray_is_refused(bench: Bench, data: Path) -> None:
    done = bench("run", *grid(data, "transformer"), "--address", "localhost:6379")
    assert done.code == 2
    assert "--address localhost:6379: only --backend ray has one" in done.err
