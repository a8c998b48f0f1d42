"""UCI-HAR: the real excerpt, the publisher's complete label files, simulated cohorts, and damaged files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bench.datasets import uci_har
from bench.datasets.contract import Cut, DamagedRecord
from bench.datasets.simulate import uci_har as simulator
from bench.errors import DataError, UsageError

ROOT = "UCI HAR Dataset"
SIGNAL = f"{ROOT}/test/Inertial Signals/body_gyro_y_test.txt"
LABELS = f"{ROOT}/test/y_test.txt"
SUBJECTS = f"{ROOT}/test/subject_test.txt"


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cohort") / "uci-har"
    simulator.simulate(folder, n_subjects=3, seconds=3.84, seed=7)
    return folder


@pytest.fixture
def copy(cohort: Path, tmp_path: Path) -> Path:
    return shutil.copytree(cohort, tmp_path / "uci-har")


def cut_part(folder: Path, part: str) -> Cut:
    (record,) = [one for one in uci_har.records(folder).records if one.name == part]
    return uci_har.cut(folder, record)


# The real files.


@pytest.mark.parametrize(("part", "n_windows", "n_subjects"), [("train", 2400, 21), ("test", 950, 9)])
def test_real_excerpt_has_the_documented_counts(
    real: Path, part: str, n_windows: int, n_subjects: int
) -> None:
    cut = cut_part(real / "uci-har", part)
    assert cut.windows.shape == (n_windows, 128, 9)
    assert len(set(cut.subject)) == n_subjects
    assert set(cut.labels) == set(range(6))


def test_real_channels_are_in_order(real: Path) -> None:
    windows = cut_part(real / "uci-har", "test").windows
    gravity = windows[:, :, 6:] - windows[:, :, :3]  # total minus body acceleration
    # Gravity moves slowly and is 1 g long; with channels in another order it would be neither.
    assert np.median(np.ptp(gravity, axis=1)) < 0.02
    assert np.median(np.linalg.norm(gravity.mean(axis=1), axis=1)) == pytest.approx(1.0, abs=0.05)


def test_first_real_value_is_the_files_first_value(real: Path) -> None:
    first = (real / "uci-har" / f"{ROOT}/train/Inertial Signals/body_acc_x_train.txt").read_text().split()[0]
    assert cut_part(real / "uci-har", "train").windows[0, 0, 0] == np.float32(first)


@pytest.mark.parametrize(("part", "n_windows"), [("train", 7352), ("test", 2947)])
@pytest.mark.parametrize("table", ["y", "subject"])
def test_publishers_complete_label_files_are_read(real: Path, part: str, n_windows: int, table: str) -> None:
    labels = real / "other" / "uci-har-labels"
    assert len(uci_har._whole_numbers(labels, uci_har._table_path(part, table), highest=30)) == n_windows


# Spellings.


def test_windows_are_named_by_part_and_line(cohort: Path) -> None:
    cut = cut_part(cohort, "test")
    assert cut.record[[0, -1]].tolist() == ["test/1", f"test/{len(cut.labels)}"]


def rewrite(path: Path, change: Callable[[str], str], encoding: str = "ascii") -> None:
    path.write_bytes(change(path.read_text(encoding="ascii")).encode(encoding))


@pytest.mark.parametrize(
    ("relative", "change", "encoding"),
    [
        (SIGNAL, lambda text: text.replace(" ", "   ").replace("e-", "e-0"), "ascii"),
        (SIGNAL, lambda text: text.replace(" ", "\t"), "utf-8-sig"),
        (SIGNAL, lambda text: text.replace("\n", "\r\n") + "\r\n\r\n", "utf-16"),
        (LABELS, lambda text: text.replace("\n", " \r\n"), "utf-8-sig"),
        (SUBJECTS, lambda text: text.replace("\n", "\xa0\n"), "latin-1"),
    ],
    ids=["blanks", "tabs and mark", "crlf and utf-16", "crlf and mark", "latin-1"],
)
def test_blank_widths_and_encodings_do_not_matter(
    cohort: Path, copy: Path, relative: str, change: Callable[[str], str], encoding: str
) -> None:
    rewrite(copy / relative, change, encoding)
    expected, found = cut_part(cohort, "test"), cut_part(copy, "test")
    assert np.array_equal(expected.windows, found.windows)
    assert np.array_equal(expected.labels, found.labels)
    assert np.array_equal(expected.subject, found.subject)


# Damage.


def constant(text: str) -> str:
    return "\n".join(" ".join(["0.5"] * 128) for _ in text.splitlines())


DAMAGES = {
    "empty": (SIGNAL, lambda text: "", "the file is empty"),
    "blank only": (LABELS, lambda text: "\n \n", "no lines"),
    "lines cut off": (
        SIGNAL,
        lambda text: text[: len(text) // 2],
        "lines, but .* labels|numbers, expected 128",
    ),
    "value short": (SIGNAL, lambda text: text.rsplit(" ", 1)[0], r"line \d+: 127 numbers, expected 128"),
    "all short": (
        SIGNAL,
        lambda text: "\n".join(line[17:] for line in text.split("\n")),
        "line 1: 127 numbers",
    ),
    "nan": (SIGNAL, lambda text: "nan" + text[15:], "line 1: a value that is not a finite number"),
    "inf": (SIGNAL, lambda text: "-inf" + text[15:], "line 1: a value that is not a finite number"),
    "too large": (SIGNAL, lambda text: "1e300" + text[15:], "line 1: a value that is not a finite number"),
    "text": (SIGNAL, lambda text: "#hello" + text[15:], "could not convert"),
    "constant": (SIGNAL, constant, "a constant channel"),
    "label 0": (LABELS, lambda text: "0" + text[1:], r"line 1: '0', expected 1 to 6"),
    "label after a blank line": (LABELS, lambda text: "\n0" + text[1:], r"line 2: '0', expected 1 to 6"),
    "nan after a blank line": (SIGNAL, lambda text: "\nnan" + text[15:], "line 2: a value that is not"),
    "label 7": (LABELS, lambda text: "7" + text[1:], r"line 1: '7', expected 1 to 6"),
    "label of 5000 digits": (LABELS, lambda text: "1" * 5000 + text[1:], r"line 1: '1{40}', expected"),
    "label word": (LABELS, lambda text: "WALKING" + text[1:], r"line 1: 'WALKING', expected 1 to 6"),
    "label missing": (LABELS, lambda text: text[2:], "lines, but"),
    "subject missing": (SUBJECTS, lambda text: text[2:], "lines, but"),
}


@pytest.mark.parametrize(("relative", "change", "message"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_named_in_one_line(
    copy: Path, relative: str, change: Callable[[str], str], message: str
) -> None:
    rewrite(copy / relative, change)
    with pytest.raises(DamagedRecord, match=message) as caught:
        cut_part(copy, "test")
    assert str(caught.value).startswith(ROOT)
    assert "\n" not in str(caught.value)


def test_missing_signal_file_is_damage(copy: Path) -> None:
    (copy / SIGNAL).unlink()
    with pytest.raises(DamagedRecord, match=r"body_gyro_y_test\.txt: no such file"):
        cut_part(copy, "test")


def test_link_out_of_the_folder_is_damage(copy: Path, tmp_path: Path) -> None:
    (copy / SIGNAL).rename(tmp_path / "outside.txt")
    (copy / SIGNAL).symlink_to(tmp_path / "outside.txt")
    with pytest.raises(DamagedRecord, match="outside of the dataset's folder"):
        cut_part(copy, "test")


def test_other_datasets_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "RECORDS").write_text("patient001/s0010_re\n")
    with pytest.raises(DataError, match=r"no such folder, so .* is not UCI-HAR's"):
        uci_har.records(tmp_path)


def test_missing_subject_file_is_refused(copy: Path) -> None:
    (copy / SUBJECTS).unlink()
    with pytest.raises(DataError, match=r"subject_test\.txt: no such file.*get the archive again"):
        uci_har.records(copy)


def test_subject_in_both_parts_is_refused(copy: Path) -> None:
    rewrite(copy / SUBJECTS, lambda text: "1" + text[1:])
    with pytest.raises(DataError, match="subject 1 is in both parts"):
        uci_har.records(copy)


# The simulator.


def test_simulation_repeats_bit_for_bit(cohort: Path, tmp_path: Path) -> None:
    simulator.simulate(tmp_path / "again", n_subjects=3, seconds=3.84, seed=7)
    files = sorted(path.relative_to(cohort) for path in cohort.rglob("*") if path.is_file())
    assert len(files) == 2 * 11 + 2
    for file in files:
        assert (cohort / file).read_bytes() == (tmp_path / "again" / file).read_bytes()


def test_simulated_subjects_do_not_depend_on_the_others(cohort: Path, tmp_path: Path) -> None:
    simulator.simulate(tmp_path / "larger", n_subjects=6, seconds=3.84, seed=7)
    small, large = cut_part(cohort, "test"), cut_part(tmp_path / "larger", "test")
    assert np.array_equal(small.windows, large.windows[large.subject == "2"])


def test_every_part_of_a_small_cohort_has_subjects(cohort: Path) -> None:
    subjects = {*cut_part(cohort, "train").subject, *cut_part(cohort, "test").subject}
    assert subjects == {"1", "27", "2"}


def test_simulated_gravity_is_one_g(cohort: Path) -> None:
    windows = cut_part(cohort, "train").windows
    gravity = (windows[:, :, 6:] - windows[:, :, :3]).mean(axis=1)
    assert np.linalg.norm(gravity, axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("n_subjects", [2, 31])
def test_impossible_number_of_subjects_is_refused(tmp_path: Path, n_subjects: int) -> None:
    with pytest.raises(UsageError, match=f"n_subjects {n_subjects}: .* 3 to 30"):
        simulator.simulate(tmp_path, n_subjects=n_subjects, seconds=10, seed=0)


def test_recording_shorter_than_a_window_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"seconds 2: give 2\.56"):
        simulator.simulate(tmp_path, n_subjects=3, seconds=2, seed=0)


def test_linear_model_is_above_chance_and_below_perfect_across_subjects(tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    simulator.simulate(tmp_path, n_subjects=12, seconds=10, seed=3)
    train, test = cut_part(tmp_path, "train"), cut_part(tmp_path, "test")

    def features(cut: Cut) -> np.ndarray:
        return np.hstack([cut.windows.mean(axis=1), cut.windows.std(axis=1)])

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    score = model.fit(features(train), train.labels).score(features(test), test.labels)
    assert 0.5 < score < 0.97


def test_split_by_window_flatters(simulated: Callable[[str], Path]) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    train, test = (cut_part(simulated("uci-har") / "uci-har", part) for part in ("train", "test"))

    def features(cut: Cut) -> np.ndarray:
        return np.hstack([cut.windows.mean(axis=1), cut.windows.std(axis=1)])

    across = KNeighborsClassifier(1).fit(features(train), train.labels).score(features(test), test.labels)
    within = KNeighborsClassifier(1).fit(features(train)[::2], train.labels[::2])
    assert within.score(features(train)[1::2], train.labels[1::2]) > across + 0.1
