"""Settings and folders for all tests."""

import importlib
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from bench.processes import COMPUTING, DRAWING, fork_server
from tests.fixtures.registries import registered_for_now

pytest_plugins = [
    "tests.fixtures.paper_source",
    "tests.fixtures.results_folders",
    "tests.fixtures.stub_package",
    "tests.fixtures.trained_cells",
]

# Other work shares the machine: no example fails for being slow. The same examples are tried in every run.
settings.register_profile("bench", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("bench")


@pytest.fixture(scope="session", autouse=True)
def forked() -> None:
    """Start the tests' one fork server with all imports: whoever asks first decides, and the others would wait."""
    fork_server([*COMPUTING, *DRAWING])


@pytest.fixture(scope="session")
def real() -> Path:
    root = os.environ.get("BENCH_TEST_DATA")
    if root is None:
        pytest.skip("BENCH_TEST_DATA is not set: the folder with excerpts of the real datasets")
    return Path(root)


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Forget the models and datasets that a test registers."""
    with registered_for_now():
        yield


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the scan's kernel is compiled, once for all processes of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "native"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def new_cache(tmp_path_factory: pytest.TempPathFactory, compiled_kernels: Path) -> Callable[[], Path]:
    """Return a function that makes an empty cache, with the kernel that all share."""

    # pytest looks through all folders there are for the number of a new one.
    root, numbers = tmp_path_factory.mktemp("caches"), count()

    def make() -> Path:
        folder = root / str(next(numbers))
        folder.mkdir()
        (folder / "native").symlink_to(compiled_kernels)
        return folder

    return make


@pytest.fixture(autouse=True)
def cache(new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a cache of its own, so that none reads or fills the user's; only the scan's kernel is shared."""
    folder = new_cache()
    monkeypatch.setenv("BENCH_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a dataset's name to a root that holds its cohort of demo size; only to be read."""
    root = tmp_path_factory.mktemp("simulated")

    def make(name: str) -> Path:
        if not (root / name).exists():
            module = importlib.import_module(f"bench.datasets.simulate.{name.replace('-', '_')}")
            (root / name).mkdir()
            module.simulate(root / name, **module.DEMO, seed=7)
        return root

    return make


@pytest.fixture(scope="session")
def _session_cache(new_cache: Callable[[], Path]) -> Path:
    return new_cache()


@pytest.fixture
def shared_cache(_session_cache: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Share one cache between the tests that ask for it, where preparing anew would show nothing."""
    monkeypatch.setenv("BENCH_CACHE", str(_session_cache))
    return _session_cache
