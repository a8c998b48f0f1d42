"""What lies in the cache: told by state, removed with what belongs to it, left alone while it is written."""

from pathlib import Path

import pytest

from bench import datasets
from bench.datasets import registry
from bench.datasets.cache.entry import locate, lock_of
from bench.datasets.cache.stored import remove, stored
from tests.datasets import toy_dataset


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    toy_dataset.register(monkeypatch)
    for record in ("anna_0", "bert_1"):
        toy_dataset.write(tmp_path, record)
    return tmp_path


def test_windows_of_changed_files_are_stale(root: Path) -> None:
    datasets.prepare("toy", root)
    toy_dataset.write(root, "cora_0")
    datasets.prepare("toy", root)
    assert sorted(one.state for one in stored()) == ["in use", "stale"]
    (root / "toy").rename(root / "elsewhere")
    assert [one.state for one in stored()] == ["stale", "stale"]


def test_source_and_size_are_told(root: Path) -> None:
    manifest = datasets.prepare("toy", root)
    (one,) = stored()
    assert (one.dataset, one.source_folder) == ("toy", str(root / "toy"))
    assert one.n_bytes > sum(manifest.files.values())
    assert 0 <= one.age_s < 3600


def test_what_a_killed_process_left_is_unfinished(root: Path) -> None:
    folder = locate("toy", root).entry.folder
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True)
    (one,) = stored()
    assert one.state == "unfinished"
    assert remove(one)
    assert not partial.exists()


def test_reader_that_is_not_at_hand_leaves_the_state_unknown(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets.prepare("toy", root)
    monkeypatch.delitem(registry._TABLE, "toy")
    assert [one.state for one in stored()] == ["unknown"]


def test_manifest_of_another_form_is_stale(root: Path) -> None:
    datasets.prepare("toy", root)
    locate("toy", root).entry.manifest.write_text("{}")
    assert [one.state for one in stored()] == ["stale"]


def test_removed_windows_are_cut_anew(root: Path) -> None:
    before = datasets.prepare("toy", root)
    (one,) = stored()
    assert remove(one)
    assert stored() == []
    assert datasets.prepare("toy", root) == before


def test_windows_that_are_being_written_are_left_alone(root: Path) -> None:
    datasets.prepare("toy", root)
    (one,) = stored()
    with lock_of(one.folder):
        assert not remove(one)
    assert one.folder.is_dir()
