"""Loading: as cut or scaled, in memory or mapped, with statistics of the training part alone."""

import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from bench import datasets
from bench.datasets.cache.entry import locate
from bench.datasets.contract import Normalisation, Split
from bench.datasets.normalisation import normalise_windows
from bench.errors import DataError
from tests.datasets import toy_dataset

SUBJECTS = ("anna_0", "bert_1", "cora_0", "dora_1")
SPLIT = Split("test", ("anna", "bert"), ("cora",), ("dora",))


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_dataset.register(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for record in SUBJECTS:
        toy_dataset.write(tmp_path, record)
    return tmp_path


@pytest.fixture
def scaled_by_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy_dataset, "FACTS", replace(toy_dataset.FACTS, normalisation="channel"))


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))


def as_cut(root: Path) -> NDArray[np.float32]:
    return np.array(datasets.load("toy", root, normalise=False).windows)


def test_windows_as_cut_are_mapped(root: Path) -> None:
    dataset = datasets.load("toy", root, normalise=False)
    assert isinstance(dataset.windows, np.memmap)
    assert dataset.normalisation == "none"


def test_every_window_has_label_subject_and_record(root: Path) -> None:
    dataset = datasets.load("toy", root)
    assert dataset.labels.tolist() == [0] * 5 + [1] * 5 + [0] * 5 + [1] * 5
    assert dataset.subject.tolist() == [name.split("_")[0] for name in SUBJECTS for _ in range(5)]
    assert dataset.record.tolist() == [name for name in SUBJECTS for _ in range(5)]


def test_windows_are_scaled_as_the_facts_say(root: Path) -> None:
    expected = as_cut(root)
    normalise_windows(expected)
    dataset = datasets.load("toy", root)
    np.testing.assert_array_equal(dataset.windows, expected)
    assert dataset.normalisation == "window"


def test_fingerprint_is_that_of_the_windows_as_cut(root: Path) -> None:
    fingerprints = {datasets.load("toy", root, normalise=one).fingerprint for one in (True, False)}
    assert fingerprints == {datasets.prepare("toy", root).fingerprint}


@pytest.mark.usefixtures("scaled_by_channel")
def test_channels_are_scaled_by_the_training_part(root: Path) -> None:
    cut = as_cut(root).astype(np.float64)
    training = cut[:10]
    expected = (cut - training.mean(axis=(0, 1))) / training.std(axis=(0, 1))
    dataset = datasets.load("toy", root, split=SPLIT)
    np.testing.assert_allclose(dataset.windows, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("scaled_by_channel")
def test_other_parts_do_not_change_the_training_windows(root: Path) -> None:
    before = np.array(datasets.load("toy", root, split=SPLIT).windows[:10])
    toy_dataset.write(root, "dora_1", seed=99)
    np.testing.assert_array_equal(datasets.load("toy", root, split=SPLIT).windows[:10], before)


@pytest.mark.usefixtures("scaled_by_channel")
def test_training_part_without_windows_is_refused(root: Path) -> None:
    strangers = Split("test", ("nobody",), ("cora",), ("dora",))
    with pytest.raises(DataError, match="toy: no window belongs to the training part of split 'test'"):
        datasets.load("toy", root, split=strangers)


@pytest.mark.usefixtures("little_memory")
def test_data_larger_than_memory_is_mapped(root: Path) -> None:
    expected = as_cut(root)
    normalise_windows(expected)
    dataset = datasets.load("toy", root)
    assert isinstance(dataset.windows, np.memmap)
    np.testing.assert_array_equal(dataset.windows, expected)


@pytest.mark.usefixtures("little_memory", "scaled_by_channel")
def test_mapped_windows_of_two_splits_are_kept_apart(root: Path) -> None:
    other = Split("test", ("cora", "dora"), ("anna",), ("bert",))
    first, second = (datasets.load("toy", root, split=one).windows for one in (SPLIT, other))
    assert abs(first[:10].mean()) < 1e-5
    assert abs(second[10:].mean()) < 1e-5
    assert not np.array_equal(first, second)


@pytest.mark.usefixtures("little_memory")
def test_scaled_file_appears_whole_or_not_at_all(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(windows: NDArray[np.float32]) -> None:
        raise KeyboardInterrupt("now")

    monkeypatch.setattr("bench.datasets.loading.normalise_windows", fail)
    with pytest.raises(KeyboardInterrupt, match="now"):
        datasets.load("toy", root)
    folder = locate("toy", root).entry.folder
    assert not list(folder.glob("windows-*"))


@pytest.mark.usefixtures("little_memory")
def test_scaled_file_is_written_once_at_a_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = datasets.load("toy", root).windows
    folder = locate("toy", root).entry.folder
    locked_while_scaling = []

    def watch(windows: NDArray[np.float32]) -> None:
        lock = FileLock(folder / ".windows-window.npy.lock")
        with pytest.raises(Timeout):
            lock.acquire(timeout=0)
        locked_while_scaling.append(len(windows))
        normalise_windows(windows)

    (folder / "windows-window.npy").unlink()
    (folder / ".windows-window.npy.0123.tmp").write_bytes(b"of a killed process")
    monkeypatch.setattr("bench.datasets.loading.normalise_windows", watch)
    np.testing.assert_array_equal(datasets.load("toy", root).windows, written)
    assert locked_while_scaling
    assert not list(folder.glob("*.tmp")) + list(folder.glob(".*.tmp"))


def test_memory_stays_under_twice_the_windows(tmp_path: Path) -> None:
    # 40 MB, of which blocks and names take little.
    (tmp_path / "toy").mkdir()
    windows = np.random.default_rng(0).normal(size=(400_000, 8, 3)).astype(np.float32)
    np.save(tmp_path / "toy" / "anna_0.npy", windows)
    datasets.prepare("toy", tmp_path)
    del windows
    tracemalloc.start()
    dataset = datasets.load("toy", tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    names = dataset.subject.nbytes + dataset.record.nbytes + dataset.labels.nbytes
    assert peak - 2 * names < 1.5 * dataset.windows.nbytes


def test_indices_are_those_of_the_subjects(root: Path) -> None:
    dataset = datasets.load("toy", root)
    assert dataset.indices(("bert", "dora")).tolist() == [*range(5, 10), *range(15, 20)]


@pytest.mark.parametrize("array", ["windows", "labels", "subject", "record"])
def test_damaged_cache_is_one_clear_line(root: Path, array: str) -> None:
    datasets.prepare("toy", root)
    path = getattr(locate("toy", root).entry, array)
    path.write_bytes(b"(" * path.stat().st_size)
    with pytest.raises(
        DataError, match=rf"{array}.npy: not a readable .npy file .* delete the folder .* prepare again"
    ):
        datasets.load("toy", root)


def test_objects_in_the_cache_are_never_unpickled(root: Path) -> None:
    datasets.prepare("toy", root)
    path = locate("toy", root).entry.subject
    n_bytes = path.stat().st_size
    np.save(path, np.array(["anna"] * 20, dtype=object), allow_pickle=True)
    path.write_bytes(path.read_bytes().ljust(n_bytes, b"\0")[:n_bytes])
    with pytest.raises(DataError, match=r"subject.npy: not a readable .npy file .*Python objects"):
        datasets.load("toy", root)


@pytest.mark.parametrize("normalisation", ["window", "none"])
def test_normalisation_can_be_named(root: Path, normalisation: Normalisation) -> None:
    dataset = datasets.load("toy", root, normalise=normalisation)
    assert dataset.normalisation == normalisation
    assert (abs(dataset.windows.mean()) < 1e-5) == (normalisation == "window")
