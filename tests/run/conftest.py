"""Cells of misbehaving models on a small simulated dataset, through the real workers."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from bench.datasets import prepare
from bench.datasets.simulate.cohort import simulate
from bench.plan.grid import plan
from bench.plan.request import make_request
from bench.results.record import Record
from bench.results.store import read_all
from bench.run import pool
from bench.run.job import Job, make_jobs
from bench.run.resources import Resources
from bench.run.run_grid import execute
from tests.fixtures.registries import registered_for_now

OWN = Path(__file__).with_name("own_models.py")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a simulated UCI-HAR of a few windows."""
    root = tmp_path_factory.mktemp("data")
    simulate("uci-har", root, n_subjects=4, seconds=4.0, seed=1)
    return root


@contextmanager
def quickly(cache: Path) -> Iterator[None]:
    """Cut windows once for all tests, and have the pool try again at once."""
    with registered_for_now(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(cache))
        patch.setattr(pool, "RETRY_S", 0.0)
        patch.setattr(pool, "LOCKED_RETRY_S", 0.2)
        yield


@pytest.fixture(autouse=True)
def quick(shared_cache: Path) -> Iterator[None]:
    """Have every test of this folder run so; none is about the pauses or the cutting."""
    with quickly(shared_cache):
        yield


@pytest.fixture
def graves(tmp_path: Path) -> Path:
    """An empty folder in which models count their lives."""
    folder = tmp_path / "graves"
    folder.mkdir()
    return folder


@dataclass(frozen=True)
class Ran:
    """What a run left."""

    outcomes: Counter[str]
    records: list[Record]

    @property
    def record(self) -> Record:
        (record,) = self.records
        return record


Run = Callable[..., Ran]
Calm = Callable[..., Record]


def run_own(data: Path, out: Path, *class_names: str, sets: Sequence[str] = (), **resources: object) -> Ran:
    """Run own models by class name; return outcomes and records."""
    request = make_request(
        models_text=",".join(f"{OWN}:{name}" if name[0].isupper() else name for name in class_names),
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=3", "batch_size=8", *sets),
    )
    summary = execute(request, data, out, Resources(device="cpu", **resources))  # type: ignore[arg-type]
    records, damaged = read_all(out)
    assert not damaged
    return Ran(Counter(summary.outcomes), records)


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Run:
    """Run own models by class name, in a folder of the test's, and return outcomes and records."""
    return lambda *class_names, out="r", **how: run_own(data, tmp_path / out, *class_names, **how)


@pytest.fixture(scope="session")
def _calm(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return cache(
        lambda *arguments: (
            run_own(data, tmp_path_factory.mktemp("calm"), arguments[0], sets=arguments[1:]).record
        )
    )


@pytest.fixture
def calm(_calm: Calm, quick: None) -> Calm:
    """Return a function from a model and settings to what it trains undisturbed; each is trained once."""
    return _calm


def jobs_of(
    data: Path, out: Path, *class_names: str, sets: tuple[str, ...] = (), file: Path = OWN
) -> list[Job]:
    """Return what workers are told of own models, their data prepared."""
    request = make_request(
        models_text=",".join(f"{file}:{name}" for name in class_names),
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=1", *sets),
    )
    cells = plan(request, {"uci-har": prepare("uci-har", data)}, out)
    return make_jobs(cells, data, out, Resources(), "cpu")
