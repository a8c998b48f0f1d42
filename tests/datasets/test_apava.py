"""APAVA: the real excerpt, simulated files, and damaged ones."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets import apava
from bench.datasets.contract import DamagedRecord, SourceRecord
from bench.datasets.simulate import apava as simulator
from bench.datasets.simulate.mat_file import write_mat
from bench.errors import DataError, UsageError

FILE = "preproctrials01.mat"
RECORD = SourceRecord(name="1", subject="1", label=1, paths=(FILE,))


def epochs(n: int = 2, shape: tuple[int, ...] = (16, 1280)) -> list[NDArray[np.float64]]:
    return [np.random.default_rng(i).normal(0, 30, shape) for i in range(n)]


def cells(parts: list[Any]) -> NDArray[np.object_]:
    result = np.empty((1, len(parts)), dtype=object)
    result[0] = [*parts]
    return result


def write_file(folder: Path, trial: Any, name: str = FILE, **fields: Any) -> None:
    write_mat(folder / name, {"data": {"fsample": 256, "time": 0, "trial": trial, **fields}})


def refused(folder: Path, message: str) -> None:
    with pytest.raises(DamagedRecord, match=message) as caught:
        apava.cut(folder, RECORD)
    assert "\n" not in str(caught.value)


def test_real_excerpt_gives_207_windows_of_23_subjects(real: Path) -> None:
    folder = real / "apava"
    records = apava.records(folder).records
    assert [record.subject for record in records] == [str(i) for i in range(1, 24)]
    assert [len(apava.cut(folder, record).windows) for record in records] == [9] * 23


def test_real_labels_agree_with_the_count_table(real: Path) -> None:
    with (real / "apava/EPOCH_COUNTS.csv").open() as file:
        expected = {row["subject"]: int(row["alzheimer"]) for row in csv.DictReader(file)}
    assert {record.subject: record.label for record in apava.records(real / "apava").records} == expected


def test_real_labels_are_known_without_the_label_table(real: Path, tmp_path: Path) -> None:
    for path in (real / "apava").glob("*.mat"):
        (tmp_path / path.name).symlink_to(path)
    expected = [record.label for record in apava.records(real / "apava").records]
    assert [record.label for record in apava.records(tmp_path).records] == expected


def test_windows_overlap_by_half_in_order_of_time(tmp_path: Path) -> None:
    trial = epochs()
    write_file(tmp_path, cells(trial))
    cut = apava.cut(tmp_path, RECORD)
    assert cut.windows.shape == (18, 256, 16)
    np.testing.assert_array_equal(cut.windows[0], trial[0][:, :256].T.astype(np.float32))
    np.testing.assert_array_equal(cut.windows[8], trial[0][:, 1024:].T.astype(np.float32))
    np.testing.assert_array_equal(cut.windows[10], trial[1][:, 128:384].T.astype(np.float32))


def test_each_window_names_its_epoch(tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs()))
    cut = apava.cut(tmp_path, RECORD)
    assert cut.record.tolist() == ["1/1"] * 9 + ["1/2"] * 9
    assert set(cut.subject) == {"1"}
    assert set(cut.labels) == {1}


def test_subjects_are_numbers_whatever_the_zero_padding(tmp_path: Path) -> None:
    for name in ("preproctrials10.mat", "preproctrials9.mat", "preproctrials001.mat"):
        write_file(tmp_path, cells(epochs(1)), name)
    records = apava.records(tmp_path).records
    assert [(record.subject, record.paths) for record in records] == [
        ("1", ("preproctrials001.mat",)),
        ("9", ("preproctrials9.mat",)),
        ("10", ("preproctrials10.mat",)),
    ]


def test_epochs_are_the_third_field_as_the_notebook_takes_it(tmp_path: Path) -> None:
    trial = epochs(1)
    write_mat(tmp_path / FILE, {"data": {"a": 0, "b": 0, "c": cells(trial)}})
    np.testing.assert_array_equal(
        apava.cut(tmp_path, RECORD).windows[0], trial[0][:, :256].T.astype(np.float32)
    )


def test_two_files_of_one_subject_are_refused(tmp_path: Path) -> None:
    for name in ("preproctrials1.mat", "preproctrials01.mat"):
        write_file(tmp_path, cells(epochs(1)), name)
    with pytest.raises(DataError, match=r"preproctrials01.mat and preproctrials1.mat are both subject 1"):
        apava.records(tmp_path)


def test_folder_of_another_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "participants.tsv").write_text("participant_id\tGroup\n")
    with pytest.raises(DataError, match=r"no preproctrialsNN\.mat; this is not APAVA"):
        apava.records(tmp_path)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        apava.records(tmp_path / "apava")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.0, 1.0]], "subject 1 has label 0, which contradicts"),
        ([[2.0, 1.0]], "subject 1 has label 2, known are 0 and 1"),
        ([[np.nan, 1.0]], "subject 1 has label nan, known are 0 and 1"),
        ([[1.0, np.nan]], "subject nan is not a number of a file"),
        ([[1.0, 1.0], [1.0, 1.0]], "a subject has two rows"),
        ([1.0, 1.0], "not a table of two columns"),
    ],
)
def test_unusable_label_table_is_refused(table: list[Any], message: str, tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs(1)))
    np.save(tmp_path / "label.npy", np.array(table))
    with pytest.raises(DataError, match=message):
        apava.records(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00v\x00{'descr'", b"1,1\n"])
def test_damaged_label_table_is_refused(content: bytes, tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs(1)))
    (tmp_path / "label.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"label.npy: not a readable .npy table"):
        apava.records(tmp_path)


def test_label_table_with_pickles_is_not_opened(tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs(1)))
    np.save(tmp_path / "label.npy", np.array([[{}, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"not a readable \.npy table"):
        apava.records(tmp_path)


def test_unknown_subject_needs_a_label(tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs(1)), "preproctrials24.mat")
    with pytest.raises(DataError, match="no label is known of subject 24"):
        apava.records(tmp_path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "preproctrials01.mat: no such file")


def test_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    write_file(tmp_path / "elsewhere", cells(epochs(1)))
    (tmp_path / "apava").mkdir()
    (tmp_path / "apava" / FILE).symlink_to(tmp_path / "elsewhere" / FILE)
    refused(tmp_path / "apava", "outside of the dataset's folder")


@pytest.mark.parametrize("n_bytes", [0, 60, 140, 20_000])
def test_truncated_file_is_refused(n_bytes: int, tmp_path: Path) -> None:
    write_file(tmp_path, cells(epochs(1)))
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:n_bytes])
    refused(tmp_path, "the file is empty" if n_bytes == 0 else "not a readable MATLAB 5 file")


def test_truncated_compressed_file_is_refused(real: Path, tmp_path: Path) -> None:
    content = (real / "apava" / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content[: len(content) // 2])
    refused(tmp_path, "not a readable MATLAB 5 file .*truncated")


def test_version_7_3_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(2000))
    refused(tmp_path, "the header does not say MATLAB 5")


def test_file_without_the_structure_is_refused(tmp_path: Path) -> None:
    write_mat(tmp_path / FILE, {"other": 1})
    refused(tmp_path, "has no structure 'data'")


def test_structure_without_epochs_is_refused(tmp_path: Path) -> None:
    write_mat(tmp_path / FILE, {"data": {"fsample": 256}})
    refused(tmp_path, "has no structure 'data' with a field 'trial'")


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        (np.zeros((16, 1280)), "data.trial is not a list of epochs"),
        (cells(epochs(1, (15, 1280))), r"epoch 1 is float64 \(15, 1280\) instead of"),
        (cells([*epochs(1), *epochs(1, (16, 1279))]), r"epoch 2 is float64 \(16, 1279\) instead of"),
        (cells([np.ones((16, 1280)) * 1j]), "epoch 1 is complex128"),
        (cells(["text"]), "epoch 1 is <U4"),
    ],
)
def test_epoch_of_another_kind_is_refused(trial: Any, message: str, tmp_path: Path) -> None:
    write_file(tmp_path, trial)
    refused(tmp_path, message)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e200])
def test_absurd_sample_is_refused(value: float, tmp_path: Path) -> None:
    trial = epochs()
    trial[1][3, 700] = value
    write_file(tmp_path, cells(trial))
    refused(tmp_path, "epoch 2 has values NaN, infinite or beyond")


def test_constant_channel_is_named(tmp_path: Path) -> None:
    trial = epochs()
    for epoch in trial:
        epoch[4] = 1.0
    write_file(tmp_path, cells(trial))
    refused(tmp_path, "channel 5 is constant in all epochs")


def test_channel_that_is_flat_in_one_epoch_only_is_kept(tmp_path: Path) -> None:
    trial = epochs()
    trial[0][4] = 1.0
    write_file(tmp_path, cells(trial))
    assert len(apava.cut(tmp_path, RECORD).windows) == 18


def test_simulated_labels_are_the_published(simulated: Callable[[str], Path]) -> None:
    folder = simulated("apava") / "apava"
    labels = {int(record.subject): record.label for record in apava.records(folder).records}
    assert {subject for subject, label in labels.items() if label == 1} == apava.ALZHEIMER


@pytest.mark.parametrize(("n_doubtful", "n_windows"), [(9, 4), (11, 5)])
def test_a_tenth_of_the_windows_mostly_shows_the_other_class(n_doubtful: int, n_windows: int) -> None:
    for seed in range(20):
        shown = simulator._draw_shown(np.random.default_rng(seed), 0, 5, n_doubtful).reshape(5, 20)
        windows = [shown[:, start : start + 4].mean(axis=1) for start in range(0, 17, 2)]
        assert (np.array(windows) > 0.5).sum() == n_windows
        assert not (np.array(windows) == 0.5).any()


def test_simulation_depends_on_the_seed_only(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulator.simulate(tmp_path / name, n_subjects=20, seconds=5, seed=seed)
    a, b, c = (sorted((tmp_path / name).iterdir()) for name in "abc")
    assert len(a) == 20 + 2
    assert [path.read_bytes() for path in a] == [path.read_bytes() for path in b]
    assert [path.read_bytes() for path in a] != [path.read_bytes() for path in c]


@pytest.mark.parametrize("n_subjects", [19, 24])
def test_simulation_needs_the_subjects_of_the_split(n_subjects: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="simulate 20 to 23"):
        simulator.simulate(tmp_path, n_subjects=n_subjects, seconds=5, seed=1)


def test_simulation_too_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 5 s"):
        simulator.simulate(tmp_path, n_subjects=20, seconds=4, seed=1)
