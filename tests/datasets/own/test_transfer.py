"""Import: what users have comes in whole or is refused in one line."""

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets import registry
from bench.datasets.contract import DamagedRecord
from bench.datasets.own import transfer
from bench.datasets.own.imported import is_imported, reader_of
from bench.datasets.own.window_folder import read_description
from bench.errors import DataError, UsageError
from tests.datasets.own.user_folders import KNOWN, arrays, medformer, npy, npz, read_all, windows_of


@pytest.mark.parametrize(
    "ids", [["2", "10", "1"], ["02", "10", "01"], ["002", "010", "001"], ["02", "10", "1"]]
)
def test_medformer_folder_is_read_in_order_of_numbers(tmp_path: Path, ids: list[str]) -> None:
    found = read_all(transfer.import_windows(medformer(tmp_path / "in", ids), tmp_path, description=KNOWN))
    assert list(found) == ["1", "2", "10"]
    for name, (windows, labels) in found.items():
        assert np.array_equal(windows, windows_of(int(name)))
        assert labels.tolist() == [int(name) % 2] * 4


def test_real_medformer_labels_are_read(real: Path, tmp_path: Path) -> None:
    labels = np.load(real / "apava" / "label.npy", allow_pickle=False)
    medformer(tmp_path / "in", [f"{int(number):02d}" for number in labels[:, 1]])
    np.save(tmp_path / "in" / "Label" / "label.npy", labels)
    found = read_all(transfer.import_windows(tmp_path / "in", tmp_path, description=KNOWN))
    assert [int(of_one[1][0]) for of_one in found.values()] == labels[np.argsort(labels[:, 1]), 0].tolist()


@pytest.mark.parametrize("make", [npz, npy])
def test_arrays_are_parted_by_subject(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    found = read_all(transfer.import_windows(make(tmp_path / "in"), tmp_path, description=KNOWN))
    given = arrays()
    assert list(found) == ["s7", "s8"]
    for name, (windows, labels) in found.items():
        chosen = given["subject"] == name
        assert np.array_equal(windows, given["windows"][chosen])
        assert np.array_equal(labels, given["labels"][chosen])


def test_description_comes_from_the_folder_unless_given(tmp_path: Path) -> None:
    first = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    (tmp_path / "root").mkdir()
    second = transfer.import_windows(first, tmp_path / "root")
    assert read_description(second / "dataset.toml").title == 'My "own" study, \\ grün'


def test_facts_are_counted(tmp_path: Path) -> None:
    facts = reader_of(transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)).FACTS
    assert (facts.n_times, facts.n_channels, facts.n_subjects, facts.n_windows) == (5, 3, 3, 12)


def test_reader_survives_pickling(tmp_path: Path) -> None:
    folder = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    assert pickle.loads(pickle.dumps(reader_of(folder))) == reader_of(folder)


def test_paths_of_records_exist(tmp_path: Path) -> None:
    folder = transfer.import_windows(npz(tmp_path / "in"), tmp_path, description=KNOWN)
    paths = [path for record in reader_of(folder).records(folder).records for path in record.paths]
    assert "Label/window_label_001.npy" in paths
    assert all((folder / path).is_file() for path in paths)


def test_renamed_folder_is_refused_with_both_names(tmp_path: Path) -> None:
    transfer.import_windows(medformer(tmp_path / "source"), tmp_path, description=KNOWN).rename(
        tmp_path / "yours"
    )
    registry.register_imported(tmp_path)
    with pytest.raises(DataError, match=r"folder is named 'yours', its dataset.toml says name = 'mine'"):
        registry.facts("yours")


def test_folder_is_told_from_others(tmp_path: Path) -> None:
    folder = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    assert is_imported(folder)
    assert not is_imported(tmp_path / "in")


def test_medformer_folder_describes_itself_in_numbers(tmp_path: Path) -> None:
    found = transfer.describe(medformer(tmp_path / "in"), name="mine", sampling_rate_hz=50.0)
    assert found.class_names == ("class 0", "class 1")
    assert found.channel_names == ("channel 1", "channel 2", "channel 3")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.array([["ill", "1"]]), "expected a row"),
        (np.array([[1e9, 1.0]]), r"label 1e[+]09; more than 1000 classes"),
        (np.array([[np.nan, 1.0]]), "label nan"),
        (np.array([[1.0]]), "expected a row"),
    ],
)
def test_label_table_that_describes_nothing_is_refused(
    tmp_path: Path, table: np.ndarray, message: str
) -> None:
    folder = medformer(tmp_path / "in")
    np.save(folder / "Label" / "label.npy", table)
    with pytest.raises(DataError, match=message):
        transfer.describe(folder, name="mine", sampling_rate_hz=10)


@pytest.mark.parametrize(
    ("name", "rate"), [("Mine", 50.0), ("../x", 50.0), ("mine", 0.0), ("mine", float("inf"))]
)
def test_unusable_name_or_rate_is_refused(tmp_path: Path, name: str, rate: float) -> None:
    with pytest.raises(UsageError, match=r"name|sampling_rate_hz"):
        transfer.describe(medformer(tmp_path / "in"), name=name, sampling_rate_hz=rate)


def test_published_name_is_refused(tmp_path: Path) -> None:
    published = KNOWN.model_copy(update={"name": "apava"})
    with pytest.raises(UsageError, match="name 'apava' is a published dataset's"):
        transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=published)


def test_existing_dataset_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(DataError, match="exists already"):
        transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)


def save(relative: str, array: np.ndarray) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / relative, array)


WINDOWS = windows_of(1)
NOT_FINITE = np.where(np.arange(60).reshape(4, 5, 3) == 31, np.nan, WINDOWS)
BAD_MEDFORMER = {
    "no features": (lambda f: [p.unlink() for p in (f / "Feature").iterdir()], r"no feature_NNN\.npy"),
    "no labels": (lambda f: (f / "Label/label.npy").unlink(), r"label\.npy: no such file"),
    "doubled": (save("Feature/feature_01.npy", WINDOWS), r"feature_01\.npy and feature_1\.npy are both"),
    "label missing": (save("Label/label.npy", np.array([(1, 1), (0, 2)])), "subject 10 is in Feature only"),
    "feature missing": (
        lambda f: (f / "Feature/feature_2.npy").unlink(),
        r"subject 2 is in Label/label\.npy only",
    ),
    "label no class": (save("Label/label.npy", np.array([(2, 1), (0, 2), (0, 10)])), "from 0 to 1"),
    "label no number": (save("Label/label.npy", np.array([("a", "1")])), "expected a row"),
    "label twice": (
        save("Label/label.npy", np.array([(0, 1), (1, 1), (0, 2), (0, 10)])),
        "must be whole and differ",
    ),
    "label flat": (save("Label/label.npy", np.array([0, 1, 0])), r"shape \(3,\), expected a row"),
    "empty file": (
        lambda f: (f / "Feature/feature_2.npy").write_bytes(b""),
        r"feature_2\.npy: not a readable",
    ),
    "no array": (
        lambda f: (f / "Feature/feature_2.npy").write_text("hello"),
        r"feature_2\.npy: not a readable",
    ),
    "truncated": (
        lambda f: (f / "Feature/feature_2.npy").write_bytes((f / "Feature/feature_2.npy").read_bytes()[:300]),
        r"feature_2\.npy: not a readable",
    ),
    "channels": (
        save("Feature/feature_2.npy", WINDOWS[:, :, :2]),
        r"shape \(4, 5, 2\), expected .* 3 channels",
    ),
    "times": (save("Feature/feature_2.npy", WINDOWS[:, :4]), "4 times a window, the first has 5"),
    "no windows": (save("Feature/feature_2.npy", WINDOWS[:0]), r"feature_2\.npy: "),
    "two axes": (save("Feature/feature_2.npy", WINDOWS[0]), r"shape \(5, 3\), expected"),
    "complex": (save("Feature/feature_2.npy", WINDOWS * 1j), "complex64 values, expected real"),
    "nan": (save("Feature/feature_2.npy", NOT_FINITE), "window 2 has values that are not finite"),
    "too large": (
        save("Feature/feature_2.npy", WINDOWS.astype(np.float64) * 1e300),
        "window 0 has values that are not finite",
    ),
}


@pytest.mark.parametrize(("change", "message"), BAD_MEDFORMER.values(), ids=BAD_MEDFORMER.keys())
def test_bad_medformer_folder_is_refused_and_leaves_nothing(
    tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    source = medformer(tmp_path / "in")
    change(source)
    with pytest.raises(DataError, match=message) as caught:
        transfer.import_windows(source, tmp_path, description=KNOWN)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [source]


class Trap:
    """Says so when it is unpickled."""

    def __reduce__(self) -> tuple:
        return (Path.touch, (Path("unpickled"),))


def test_pickled_array_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = medformer(tmp_path / "in")
    np.save(source / "Feature" / "feature_2.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"feature_2\.npy: not a readable \.npy file"):
        transfer.import_windows(source, tmp_path, description=KNOWN)
    assert not (tmp_path / "unpickled").exists()


BAD_ARRAYS = {
    "no labels": (lambda given: given.pop("labels"), r"no array 'labels'|labels\.npy: no such file"),
    "short": (lambda given: given.update(subject=given["subject"][:-1]), "must have one entry a window"),
    "no class": (lambda given: given.update(labels=given["labels"] + 1), "from 0 to 1"),
    "half label": (lambda given: given.update(labels=given["labels"] / 2), "from 0 to 1"),
    "no name": (lambda given: given["subject"].__setitem__(3, " "), "subject ' ' is not a name"),
    "float name": (lambda given: given.update(subject=np.arange(8) / 2), "expected text or whole numbers"),
    "flat": (lambda given: given.update(windows=given["windows"][:, :, 0]), r"shape \(4, 5\), expected"),
}


@pytest.mark.parametrize("make", [npz, npy])
@pytest.mark.parametrize(("change", "message"), BAD_ARRAYS.values(), ids=BAD_ARRAYS.keys())
def test_bad_arrays_are_refused(
    tmp_path: Path,
    make: Callable[[Path, dict[str, np.ndarray]], Path],
    change: Callable[[dict], object],
    message: str,
) -> None:
    changed = arrays()
    change(changed)
    with pytest.raises(DataError, match=message):
        transfer.import_windows(make(tmp_path / "in", changed), tmp_path, description=KNOWN)


def test_subjects_with_equal_windows_are_refused(tmp_path: Path) -> None:
    source = medformer(tmp_path / "in")
    np.save(source / "Feature" / "feature_10.npy", windows_of(1))
    with pytest.raises(DataError, match="subjects '1' and '10' have the same windows"):
        transfer.import_windows(source, tmp_path, description=KNOWN)


@given(st.lists(st.sampled_from(["a", "b", "\u0394", "10", "9"]), min_size=1, max_size=30))
def test_subjects_come_in_order_of_their_first_window(subject: list[str]) -> None:
    windows = np.arange(len(subject))[:, None, None]
    labels = np.arange(len(subject))
    found = {
        part.subject: part.labels.tolist()
        for part in transfer._by_subject(windows, labels, np.array(subject))
    }
    expected = {
        name: [i for i, other in enumerate(subject) if other == name] for name in dict.fromkeys(subject)
    }
    assert list(found.items()) == list(expected.items())


def test_100_000_subjects_are_parted_in_linear_time() -> None:
    subject = np.arange(100_000).astype(str)
    windows, labels = np.zeros((100_000, 1, 1), np.float32), np.zeros(100_000, np.int64)
    assert sum(1 for _ in transfer._by_subject(windows, labels, subject)) == 100_000


@pytest.mark.parametrize(
    "name", ["windows.npz", "windows.npy", "Feature/feature_2.npy", "dataset.toml", "SIMULATED.json"]
)
def test_pipes_in_place_of_files_are_refused(tmp_path: Path, name: str) -> None:
    source = medformer(tmp_path / "in") if "/" in name or "." in name[-5:] else npy(tmp_path / "in")
    if name.startswith("windows"):
        shutil.rmtree(source / "Feature")
    (source / name).unlink(missing_ok=True)
    os.mkfifo(source / name)
    description = None if name == "dataset.toml" else KNOWN
    with pytest.raises(DataError, match="is a pipe or a device"):
        transfer.import_windows(source, tmp_path, description=description)


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(DataError, match="nothing to import"):
        transfer.import_windows(tmp_path / "in", tmp_path, description=KNOWN)


# Description.


DESCRIPTION = """
name = "mine"
title = "t"
class_names = ["a", "b"]
channel_names = ["x"]
sampling_rate_hz = 10
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "surprise = 1", "surprise: Extra inputs"),
        (lambda text: text.replace("10", '"fast"'), "sampling_rate_hz: Input should be a valid number"),
        (lambda text: text.replace("10", "-1"), "sampling_rate_hz: Input should be greater than 0"),
        (lambda text: text.replace('"mine"', '"My Data"'), "name: String should match"),
        (lambda text: text.replace('["a", "b"]', '["a"]'), "class_names: Tuple should have at least 2"),
        (lambda text: text.replace('"t"', '"a\\nb"'), "title: Value error, must be text without line breaks"),
        (lambda text: text + 'normalisation = "minmax"', "normalisation: Input should be 'window'"),
        (lambda text: text[:-4] + "=", "not readable as TOML"),
        (lambda text: text.replace('["a", "b"]', '["Ill", " ill"]'), "class_names: .*' ill' is there twice"),
        (lambda text: text.replace("10", "1" * 5000), "not readable as TOML"),
        (lambda text: text + "x = " + "[" * 3000, "not readable as TOML"),
        (lambda text: text + "\x00", "not readable as TOML"),
    ],
)
def test_bad_description_is_refused(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    (tmp_path / "dataset.toml").write_text(change(DESCRIPTION))
    with pytest.raises(DataError, match=message):
        read_description(tmp_path / "dataset.toml")


def test_missing_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"dataset\.toml: no such file"):
        transfer.import_windows(medformer(tmp_path / "in"), tmp_path)


def test_description_that_names_an_absent_subject_is_refused(tmp_path: Path) -> None:
    folder = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    with (folder / "dataset.toml").open("a") as file:
        file.write('99 = "nobody"\n')
    with pytest.raises(DataError, match="names '99', which has no feature file"):
        reader_of(folder)


def test_description_that_names_two_alike_is_refused(tmp_path: Path) -> None:
    alike = KNOWN.model_copy(update={"subjects": {"1": "x", "2": "x"}})
    with pytest.raises(DataError, match="2 subjects are named 'x'"):
        transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=alike)


# Damage after import.


def test_file_damaged_later_is_a_damaged_record(tmp_path: Path) -> None:
    folder = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    reader = reader_of(folder)
    np.save(folder / "Feature" / "feature_002.npy", NOT_FINITE)
    with pytest.raises(DamagedRecord, match=r"feature_002\.npy: window 2 has values"):
        reader.cut(folder, reader.records(folder).records[1])


def test_files_of_different_length_are_refused(tmp_path: Path) -> None:
    folder = transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=KNOWN)
    np.save(folder / "Feature" / "feature_002.npy", WINDOWS[:, :4])
    with pytest.raises(DataError, match=r"feature_002\.npy: shape \(4, 4, 3\), but feature_001\.npy has"):
        reader_of(folder)
