"""Simulated cohorts by dataset name: written whole or not at all, beside or instead of the real files."""

import importlib
import shutil
from pathlib import Path
from types import ModuleType

from bench import locks
from bench.datasets.registry import entry
from bench.datasets.simulate.marker import read_marker
from bench.errors import UsageError
from bench.files import cache_root

DEMO_SEED = 41


def simulate(name: str, root: Path, *, n_subjects: int | None, seconds: float | None, seed: int) -> Path:
    """Write a simulated dataset in the publisher's layout to ``root/<name>`` and return that folder.

    Parameters
    ----------
    name
        A registered dataset that has a simulator.
    root
        Created if need be.
    n_subjects, seconds
        Size of the cohort and of each recording; None for the small sizes of the demo.
    seed
        The same seed and sizes give the same bytes.

    Raises
    ------
    UsageError
        There is no simulator, the sizes are too small for the dataset's split, or the folder exists.
    """
    if seed < 0 or (seconds is not None and seconds <= 0):
        raise UsageError(
            f"--seed {seed}, --seconds {seconds}: a seed is not negative, a length is more than zero"
        )
    module = _simulator(name)
    sizes = {**module.DEMO}
    if n_subjects is not None:
        sizes["n_subjects"] = n_subjects
    if seconds is not None:
        sizes["seconds"] = seconds
    folder = root / name
    if folder.exists():
        raise UsageError(
            f"{folder} exists; simulated files never go beside others: remove it or choose another --data"
        )
    root.mkdir(parents=True, exist_ok=True)
    partial = root / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        module.simulate(partial, seed=seed, **sizes)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def ensure_demo(name: str) -> bool:
    """Write the demo's cohort unless the same is there; tell whether it was written. Safe for several processes."""
    root = demo_root()
    root.mkdir(parents=True, exist_ok=True)
    folder = root / name
    module = _simulator(name)
    wanted = {"simulator": name, "revision": module.REVISION, "seed": DEMO_SEED, **module.DEMO}
    with locks.locked(root / f".{name}.lock", at_risk="two runs may simulate the same cohort at once"):
        found = read_marker(folder) if folder.exists() else None
        if found is not None and wanted.items() <= found.items():
            return False
        shutil.rmtree(folder, ignore_errors=True)
        simulate(name, root, n_subjects=None, seconds=None, seed=DEMO_SEED)
        return True


def demo_root() -> Path:
    """Return where the demo's cohorts lie."""
    return cache_root() / "simulated"


def is_simulated(folder: Path) -> bool:
    """Tell whether a dataset's folder was written by a simulator."""
    return read_marker(folder) is not None


def _simulator(name: str) -> ModuleType:
    module = f"bench.datasets.simulate.{entry(name).module.rpartition('.')[2]}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise UsageError(f"dataset '{name}' has no simulator") from error
