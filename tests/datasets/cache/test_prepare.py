"""Preparing windows: order, fingerprint, damage, change, interruption, and what is left in the cache."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import datasets
from bench.datasets import registry
from bench.datasets.cache.entry import locate
from bench.datasets.cache.fingerprint import Fingerprint
from bench.datasets.cache.manifest import Manifest
from bench.datasets.contract import Cut, SourceRecord
from bench.datasets.formats.npy_stream import NpyStream
from bench.datasets.simulate.marker import write_marker
from bench.errors import DataError
from bench.run.run_grid import prepare_all
from tests.datasets import toy_dataset

FOUR_SUBJECTS = ("anna_0", "bert_1", "cora_0", "dora_1")


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_dataset.register(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for record in FOUR_SUBJECTS:
        toy_dataset.write(tmp_path, record)
    return tmp_path


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.suffix not in ("", ".lock"))


def test_windows_stand_in_record_order(root: Path) -> None:
    expected = np.concatenate([toy_dataset.write(root, record) for record in FOUR_SUBJECTS])
    datasets.prepare("toy", root)
    loaded = datasets.load("toy", root, normalise=False)
    np.testing.assert_array_equal(loaded.windows, expected)
    assert list(dict.fromkeys(loaded.record)) == list(FOUR_SUBJECTS)


def test_manifest_counts_subjects_and_classes(root: Path) -> None:
    toy_dataset.write(root, "anna2_0", n_windows=2)
    manifest = datasets.prepare("toy", root)
    assert manifest.windows_per_class == (12, 10)
    assert [(one.name, one.label, one.windows_per_class) for one in manifest.subjects][:2] == [
        ("anna2", 0, (2, 0)),
        ("anna", 0, (5, 0)),
    ]


def test_subject_with_two_classes_has_no_label(root: Path) -> None:
    toy_dataset.write(root, "anna_1", n_windows=3)
    manifest = datasets.prepare("toy", root)
    assert (manifest.subjects[0].label, manifest.subjects[0].windows_per_class) == (None, (5, 3))


def test_fingerprint_ignores_how_windows_arrive() -> None:
    windows = np.random.default_rng(0).normal(size=(6, 8, 3)).astype(np.float32)
    names = np.array(["a", "a", "a", "longer", "longer", "longer"])
    at_once, in_parts = Fingerprint(), Fingerprint()
    at_once.add(Cut(windows, np.arange(6), names, names))
    for part in (slice(0, 1), slice(1, 6)):
        in_parts.add(Cut(windows[part], np.arange(6)[part], names[part].astype("<U20"), names[part]))
    assert at_once.hexdigest() == in_parts.hexdigest()


@pytest.mark.parametrize("changed", ["windows", "labels", "subject", "record"])
def test_fingerprint_sees_every_change(changed: str) -> None:
    arrays = {
        "windows": np.zeros((2, 8, 3), np.float32),
        "labels": np.array([0, 1]),
        "subject": np.array(["a", "b"]),
        "record": np.array(["r", "s"]),
    }
    before, after = Fingerprint(), Fingerprint()
    before.add(Cut(**arrays))
    after.add(
        Cut(
            **arrays | {changed: np.roll(arrays[changed], 1) if changed != "windows" else arrays[changed] + 1}
        )
    )
    assert before.hexdigest() != after.hexdigest()


def test_several_processes_give_the_same_bytes(
    simulated: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = simulated("ptb-xl")
    alone = datasets.prepare("ptb-xl", root)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "other"))
    together = datasets.prepare("ptb-xl", root, jobs=2)
    assert together.model_dump() == alone.model_dump()


def test_reading_process_that_dies_is_one_clear_line(simulated: Callable[[str], Path]) -> None:
    def kill_the_readers(done: int, total: int) -> None:
        del done, total
        for child in multiprocessing.active_children():
            child.kill()

    with pytest.raises(DataError, match=r"a reading process died, .* use fewer --jobs"):
        datasets.prepare("ptb-xl", simulated("ptb-xl"), jobs=2, progress=kill_the_readers)


def test_nothing_is_prepared_twice(root: Path) -> None:
    datasets.prepare("toy", root)
    calls: list[tuple[int, int]] = []
    datasets.prepare("toy", root, progress=lambda done, total: calls.append((done, total)))
    assert calls == []


def test_progress_counts_records(root: Path) -> None:
    calls: list[tuple[int, int]] = []
    datasets.prepare("toy", root, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_find_prepared_sees_only_what_is_there(root: Path) -> None:
    assert datasets.find_prepared("toy", root) is None
    manifest = datasets.prepare("toy", root)
    assert datasets.find_prepared("toy", root) == manifest


@pytest.mark.parametrize(
    "change",
    [
        lambda root: toy_dataset.write(root, "anna_0", n_windows=6),
        lambda root: toy_dataset.write(root, "emil_1"),
        lambda root: (root / "toy" / "anna_0.npy").unlink(),
        lambda root: os.utime(root / "toy" / "anna_0.npy", ns=(1, 1)),
        lambda root: write_marker(root / "toy", seed=1),
    ],
    ids=["longer file", "new record", "removed record", "new time", "marked as simulated"],
)
def test_changed_files_are_prepared_anew(root: Path, change: Callable[[Path], object]) -> None:
    datasets.prepare("toy", root)
    change(root)
    assert datasets.find_prepared("toy", root) is None


def test_changed_reader_prepares_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets.prepare("toy", root)
    monkeypatch.setattr(toy_dataset, "REVISION", 2)
    assert datasets.find_prepared("toy", root) is None


def test_changed_helper_of_an_own_reader_prepares_anew(root: Path, tmp_path: Path) -> None:
    reader = tmp_path / "my_reader.py"
    reader.write_text(
        "import my_helper\nfrom tests.datasets.toy_dataset import FACTS, REVISION, cut, records\n"
    )
    (tmp_path / "my_helper.py").write_text("x = 1\n")
    registry._TABLE.pop("toy")
    registry.register_file(str(reader))
    datasets.prepare("toy", root)
    (tmp_path / "my_helper.py").write_text("x = 2\n")
    assert datasets.find_prepared("toy", root) is None


def test_other_library_prepares_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy_dataset, "LIBRARIES", ("wfdb",), raising=False)
    datasets.prepare("toy", root)
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"another {name}")
    assert datasets.find_prepared("toy", root) is None


def test_many_damaged_records_are_refused(root: Path, cache: Path) -> None:
    toy_dataset.damage(root, "bert_1")
    with pytest.raises(
        DataError, match=r"1 of 4 records are damaged.*bert_1.npy: unreadable.*--allow-skipped"
    ):
        datasets.prepare("toy", root)
    assert leftovers(cache) == []


def test_allowed_damage_is_counted_with_its_reason(root: Path) -> None:
    toy_dataset.damage(root, "bert_1")
    manifest = datasets.prepare("toy", root, allow_skipped=True)
    assert [(one.record, one.reason) for one in manifest.skipped] == [("bert_1", "bert_1.npy: unreadable")]
    assert (manifest.provenance.n_skipped, manifest.n_records, manifest.n_windows) == (1, 3, 15)


def test_damage_once_allowed_is_refused_without_the_flag(root: Path) -> None:
    toy_dataset.damage(root, "bert_1")
    datasets.prepare("toy", root, allow_skipped=True)
    with pytest.raises(DataError, match="1 of 4 records are damaged"):
        datasets.prepare("toy", root)


def test_damage_found_by_verifying_is_refused_by_a_run(root: Path) -> None:
    toy_dataset.damage(root, "bert_1")
    datasets.prepare("toy", root, allow_skipped=True)
    found: dict[str, Manifest | None] = {"toy": datasets.find_prepared("toy", root)}
    with pytest.raises(DataError, match="1 of 4 records are damaged"):
        prepare_all(found, root, jobs=1, allow_skipped=False, on_record=lambda *_: None)
    assert prepare_all(found, root, jobs=1, allow_skipped=True, on_record=lambda *_: None) == found


def test_damage_that_a_run_accepted_does_not_stop_its_cells(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    toy_dataset.damage(root, "bert_1")
    planned = datasets.prepare("toy", root, allow_skipped=True)
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "of another machine"))
    assert datasets.load("toy", root, normalise=False).fingerprint == planned.fingerprint


def test_one_percent_of_damage_needs_no_flag(tmp_path: Path) -> None:
    for number in range(100):
        toy_dataset.write(tmp_path, f"s{number:02d}_0", n_windows=1)
    toy_dataset.damage(tmp_path, "s50_0")
    assert datasets.prepare("toy", tmp_path).provenance.n_skipped == 1


def test_values_that_are_not_finite_are_damage(root: Path) -> None:
    windows = toy_dataset.write(root, "bert_1")
    windows[0, 0, 0] = np.nan
    np.save(root / "toy" / "bert_1.npy", windows)
    manifest = datasets.prepare("toy", root, allow_skipped=True)
    assert [one.reason for one in manifest.skipped] == ["bert_1: values that are not finite"]


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("windows", np.zeros((5, 8, 2), np.float32), r"windows are float32 \(5, 8, 2\), expected float32"),
        ("windows", np.zeros((5, 8, 3)), "windows are float64"),
        ("labels", np.zeros(4, np.int64), "one entry for each of 5 windows"),
        ("labels", np.zeros(5), "labels are float64, expected whole numbers"),
        ("labels", np.full(5, 2), r"labels \[2\], expected 0 to 1"),
    ],
)
def test_reader_that_breaks_the_contract_is_told_so(
    root: Path, monkeypatch: pytest.MonkeyPatch, part: str, value: np.ndarray, message: str
) -> None:
    cut = toy_dataset.cut
    monkeypatch.setattr(toy_dataset, "cut", lambda *of_one: replace(cut(*of_one), **{part: value}))
    with pytest.raises(DataError, match=rf"toy_dataset.py: cut\(\) of record 'anna_0': .*{message}"):
        datasets.prepare("toy", root)


def test_record_without_any_label_is_told_so() -> None:
    unlabelled = SourceRecord(name="anna", subject="anna", label=None, paths=())
    with pytest.raises(DataError, match="anna: label is None"):
        Cut.of_one(np.zeros((1, 8, 3), np.float32), unlabelled)


def test_sound_record_without_windows_is_no_damage(root: Path) -> None:
    toy_dataset.write(root, "bert_1", n_windows=0)
    manifest = datasets.prepare("toy", root)
    assert manifest.skipped == ()
    assert [(one.reason, one.examples) for one in manifest.excluded] == [
        ("gives no window by the protocol", ("bert_1",))
    ]


def test_folder_without_usable_record_is_refused(tmp_path: Path) -> None:
    toy_dataset.write(tmp_path, "anna_0")
    toy_dataset.damage(tmp_path, "anna_0")
    with pytest.raises(
        DataError,
        match=r"no usable record of 1 listed; first: anna_0.npy.*; get Toy from https://example.org/toy",
    ):
        datasets.prepare("toy", tmp_path, allow_skipped=True)


def test_missing_folder_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such folder; get Toy from https://example.org/toy, or give"):
        datasets.prepare("toy", tmp_path)


def test_files_that_change_while_read_are_refused(root: Path, cache: Path) -> None:
    def add_a_record(done: int, total: int) -> None:
        toy_dataset.write(root, f"new{done}of{total}_0")

    with pytest.raises(DataError, match="files changed while they were read"):
        datasets.prepare("toy", root, progress=add_a_record)
    assert leftovers(cache) == []


def test_cache_that_cannot_be_written(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "a file"))
    with pytest.raises(DataError, match=r"cannot be written.*set BENCH_CACHE"):
        datasets.prepare("toy", root)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_full_disk_is_one_clear_line() -> None:
    with (
        pytest.raises(DataError, match=r"No space left on device.*BENCH_CACHE"),
        NpyStream(Path("/dev/full"), (8, 3)) as stream,
    ):
        stream.append(np.zeros((1000, 8, 3), np.float32))


def test_cut_off_cache_is_refused(root: Path) -> None:
    datasets.prepare("toy", root)
    windows = locate("toy", root).entry.windows
    windows.write_bytes(windows.read_bytes()[:-4])
    with pytest.raises(DataError, match=r"windows.npy: \d+ bytes, the manifest says \d+; delete the folder"):
        datasets.find_prepared("toy", root)


def test_unreadable_manifest_is_refused(root: Path) -> None:
    datasets.prepare("toy", root)
    locate("toy", root).entry.manifest.write_text("{")
    with pytest.raises(DataError, match=r"not a readable manifest.*delete the folder"):
        datasets.find_prepared("toy", root)


def test_entry_without_manifest_is_replaced(root: Path) -> None:
    datasets.prepare("toy", root)
    locate("toy", root).entry.manifest.unlink()
    assert datasets.prepare("toy", root).n_windows == 20


def test_copy_under_another_subject_counts_as_damage(root: Path) -> None:
    windows = toy_dataset.write(root, "anna_0")
    np.save(root / "toy" / "emil_1.npy", windows)
    with pytest.raises(DataError, match="emil_1 of subject emil holds the same as anna_0 of subject anna"):
        datasets.prepare("toy", root)


def test_copies_that_the_publisher_knows_stay(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(root / "toy" / "emil_1.npy", toy_dataset.write(root, "anna_0"))
    monkeypatch.setattr(toy_dataset, "KNOWN_COPIES", ("emil_1",), raising=False)
    assert datasets.prepare("toy", root).n_windows == 25


def test_remarks_of_readers_are_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = toy_dataset.cut
    monkeypatch.setattr(
        toy_dataset, "cut", lambda *given: replace(cut(*given), remarks=(f"{given[1].name}: mended",))
    )
    assert datasets.prepare("toy", root).remarks[0] == "anna_0: mended"


def test_one_class_of_own_windows_is_remarked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy_dataset.write(tmp_path, "anna_0")
    assert datasets.prepare("toy", tmp_path).remarks == ()
    own = replace(registry.entry("toy"), path=Path(toy_dataset.__file__))
    monkeypatch.setitem(registry._TABLE, "toy", own)
    toy_dataset.write(tmp_path, "bert_0")
    assert "all windows are of class 'even'" in datasets.prepare("toy", tmp_path).remarks[0]


def test_disk_that_fails_is_damage_of_one_record(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Cut:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(toy_dataset, "cut", fail)
    with pytest.raises(DataError, match=r"anna_0: cannot be read \(Input/output error\)"):
        datasets.prepare("toy", root)


@pytest.mark.parametrize(("records", "kind"), [(FOUR_SUBJECTS, "whole"), (FOUR_SUBJECTS[:2], "excerpt")])
def test_provenance_is_computed(tmp_path: Path, records: tuple[str, ...], kind: str) -> None:
    for record in records:
        toy_dataset.write(tmp_path, record)
    assert datasets.prepare("toy", tmp_path).provenance.kind == kind


def test_marked_folder_is_simulated_whatever_it_holds(root: Path) -> None:
    write_marker(root / "toy", simulator="toy", seed=3)
    provenance = datasets.prepare("toy", root).provenance
    assert (provenance.kind, provenance.simulator) == ("simulated", {"simulator": "toy", "seed": 3})


def test_own_data_is_never_called_the_published(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        registry._TABLE, "toy", replace(registry.entry("toy"), path=Path(toy_dataset.__file__))
    )
    assert datasets.prepare("toy", root).provenance.kind == "own"


def test_version_of_an_excerpt_is_not_claimed(tmp_path: Path) -> None:
    toy_dataset.write(tmp_path, "anna_0")
    assert datasets.prepare("toy", tmp_path).provenance.version == "1 expected, not verified"


def test_memory_does_not_grow_with_the_data(tmp_path: Path) -> None:
    for number in range(40):
        toy_dataset.write(tmp_path, f"s{number:02d}_0", n_windows=2_000)
    tracemalloc.start()
    manifest = datasets.prepare("toy", tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    n_bytes = manifest.files["windows.npy"]
    names = manifest.files["subject.npy"] + manifest.files["record.npy"] + manifest.files["labels.npy"]
    assert peak - 2 * names < n_bytes / 4


# A process of its own: it can be killed, and two of them can meet.
_PREPARE = """
import sys, time, pytest
from bench import datasets
from tests.datasets import toy_dataset
toy_dataset.register(pytest.MonkeyPatch())
calls = []
def progress(done, total):
    calls.append(done)
    print("progress", flush=True)
    time.sleep(float(sys.argv[2]))
manifest = datasets.prepare("toy", sys.argv[1], progress=progress)
print(manifest.fingerprint, len(calls), flush=True)
"""


def start_preparing(root: Path, pause_s: float) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", _PREPARE, str(root), str(pause_s)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )


def test_killed_process_leaves_nothing_that_is_used(root: Path, cache: Path) -> None:
    with start_preparing(root, pause_s=60.0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "progress\n"
        process.send_signal(signal.SIGKILL)
    assert leftovers(cache) != []
    assert datasets.find_prepared("toy", root) is None
    assert datasets.prepare("toy", root).n_windows == 20
    assert leftovers(cache) == ["labels.npy", "manifest.json", "record.npy", "subject.npy", "windows.npy"]


def test_two_processes_build_once(root: Path) -> None:
    deadline = time.monotonic() + 60.0
    first = start_preparing(root, pause_s=0.2)
    second = start_preparing(root, pause_s=0.2)
    ends = [
        process.communicate(timeout=deadline - time.monotonic())[0].split() for process in (first, second)
    ]
    assert ends[0][-2] == ends[1][-2]
    assert sorted(int(end[-1]) for end in ends) == [0, 4]
