"""The battery over every registered dataset that has classes."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import datasets
from bench.datasets.simulate.marker import read_marker
from bench.errors import UsageError
from tests.datasets import battery

NAMES = datasets.names(all_only=True)


@pytest.mark.usefixtures("shared_cache")
@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_registered_dataset(
    name: str,
    check: Callable[[battery.Subject], None],
    simulated: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    others = {one: simulated(one) for one in NAMES if one != name}
    check(battery.Subject(name, simulated(name), others, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_mutated_files_never_raise_anything_else(
    name: str, simulated: Callable[[str], Path], tmp_path: Path
) -> None:
    battery.survives_mutations(battery.Subject(name, simulated(name), {}, tmp_path), 300, seed=2)


@pytest.mark.parametrize("name", NAMES)
def test_simulator_repeats_itself(name: str, tmp_path: Path) -> None:
    contents = []
    for attempt in ("first", "second"):
        folder = tmp_path / attempt
        folder.mkdir()
        simulator(name).simulate(folder, **simulator(name).DEMO, seed=11)
        contents.append(
            {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        )
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", NAMES)
def test_simulator_marks_the_folder_before_anything_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt("now")

    monkeypatch.setattr(simulator(name), "subject_generator", interrupt)
    with pytest.raises(KeyboardInterrupt, match="now"):
        simulator(name).simulate(tmp_path / name, **simulator(name).DEMO, seed=0)
    assert read_marker(tmp_path / name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_simulator_refuses_too_few_subjects(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\d"):
        simulator(name).simulate(tmp_path, **simulator(name).DEMO | {"n_subjects": 2}, seed=0)


def simulator(name: str):
    return importlib.import_module(f"bench.datasets.simulate.{name.replace('-', '_')}")
