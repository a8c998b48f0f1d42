"""PTB: real excerpt against the published notebook's printed numbers, diagnoses, and damaged records."""

import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets import ptb
from bench.datasets.contract import DamagedRecord, SourceRecord
from bench.datasets.formats.wfdb_file import read_wfdb
from bench.datasets.normalisation import standard_scale
from bench.datasets.resampling import resample_linear
from bench.datasets.simulate import ptb as simulator
from bench.datasets.simulate.ptb import write_record
from bench.errors import DataError, UsageError

NAME = "patient001/s0001_re"
PUBLISHED_MEDIANS = [183, 183, 184, 183, 183, 185, 183, 183, 183, 183, 183, 183, 183, 183, 183]


def heartbeats(*, seconds: float = 6.0, beat_s: float = 0.8, seed: int = 0) -> NDArray[np.float64]:
    """Pulses every ``beat_s`` on all 15 leads, from 0.4 s on, with a little noise; mV at 1000 Hz."""
    n_times = int(seconds * 1000)
    since = (np.arange(n_times) - 400) % int(beat_s * 1000)
    since = np.where(since > beat_s * 500, since - beat_s * 1000, since)
    pulse = np.exp(-0.5 * (since / 12.0) ** 2)
    noise = np.random.default_rng(seed).normal(0, 0.01, (n_times, 15))
    return pulse[:, None] * np.linspace(0.8, 1.2, 15) + noise


def comments(reason: str) -> dict[str, str]:
    return {"age": "60", "sex": "male", "ECG date": "01/01/1990", "Reason for admission": reason}


def make(folder: Path, name: str = NAME, reason: str = "Healthy control", **kwargs: float) -> SourceRecord:
    write_record(folder, name, heartbeats(**kwargs), comments(reason))  # pyright: ignore[reportArgumentType]
    with (folder / "RECORDS").open("a") as file:
        file.write(f"{name}\n")
    return SourceRecord(name=name, subject=name[:10], label=0, paths=())


def edit_header(folder: Path, old: str, new: str) -> None:
    path = folder / f"{NAME}.hea"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# The real record.


def test_real_record_has_the_published_median_of_every_channel(real: Path) -> None:
    signal = ptb._signal_at_250_hz(real / "ptb", "patient001/s0010_re")
    medians = [float(np.median(np.diff(ptb.r_peaks(channel)))) for channel in signal.T]
    assert medians == PUBLISHED_MEDIANS


def test_real_record_gives_52_beats_of_infarction(real: Path) -> None:
    (record,) = ptb.records(real / "ptb").records
    cut = ptb.cut(real / "ptb", record)
    assert cut.windows.shape == (52, 300, 15)
    assert set(cut.labels) == {1}
    assert set(cut.subject) == {"patient001"}


def test_beats_of_a_real_record_are_padded_evenly(real: Path) -> None:
    (record,) = ptb.records(real / "ptb").records
    windows = ptb.cut(real / "ptb", record).windows
    filled = np.flatnonzero(windows[10].any(axis=1))
    assert (filled[0], filled[-1]) == (59, 240)  # 2 * floor(183 / 2) = 182 samples, 59 zeros on each side


def test_excerpt_lists_the_other_548_records_as_absent(real: Path) -> None:
    found = ptb.records(real / "ptb")
    assert len(found.excluded) == 548
    assert {reason for _, reason in found.excluded} == {"not in the folder"}


def test_diagnoses_of_all_patients_give_the_published_counts(real: Path, tmp_path: Path) -> None:
    tables = real / "other" / "ptb-diagnoses-290"
    records_of = json.loads((tables / "patient_heas.json").read_text())
    with (tables / "Record_info.csv").open(newline="") as file:
        reason_of = {row["idP"]: row["Reason for admission"] for row in csv.DictReader(file)}
    names = [f"{p}/{hea.removesuffix('.hea')}" for p, of in records_of.items() for hea in of["heas"]]
    (tmp_path / "RECORDS").write_text("\n".join(sorted(names)))
    for name in names:
        path = tmp_path / f"{name}.hea"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# age: 1\n# Reason for admission: {reason_of[name[:10]]}\n")
    found = ptb.records(tmp_path).records
    subjects = {record.subject: record.label for record in found}
    assert [list(subjects.values()).count(label) for label in (0, 1)] == [52, 148]
    assert [sum(record.label == label for record in found) for label in (0, 1)] == [80, 368]


def test_subjects_and_labels_agree_with_the_published_list(real: Path) -> None:
    published = json.loads((Path(__file__).parents[1] / "golden" / "splits.json").read_text())["PTB"]
    with (real / "other" / "ptb-diagnoses-290" / "Record_info.csv").open(newline="") as file:
        reason_of = {row["idP"]: row["Reason for admission"] for row in csv.DictReader(file)}
    for subject in published["subjects"]:
        label, why_not = ptb._label({reason_of[subject["patient"]].lower()})
        assert (label, why_not) == (subject["label"], "")


def test_real_12_lead_crops_have_regular_r_peaks(real: Path) -> None:
    crops = real / "other" / "ptb-12lead-10s"
    leads = ptb.FACTS.channel_names[:12]
    signal = read_wfdb(crops, "patient233/s0457_re", channel_names=leads, sampling_rate_hz=1000)
    peaks = [ptb.r_peaks(channel) for channel in standard_scale(resample_linear(signal, 2500)).T]
    length = ptb.beat_length(peaks)
    centres = ptb.beat_centres(peaks)
    assert 120 < length < 300
    assert np.abs(np.diff(centres) - length).max() < 0.25 * length


def test_12_lead_folder_is_not_ptb(real: Path, tmp_path: Path) -> None:
    shutil.copytree(real / "other" / "ptb-12lead-10s" / "patient233", tmp_path / "patient233")
    (tmp_path / "RECORDS").write_text("patient233/s0457_re\n")
    (tmp_path / "patient233" / "s0457_re.xyz").write_bytes(b"\0" * 60000)
    (record,) = ptb.records(tmp_path).records
    with pytest.raises(DamagedRecord, match="12 channels, expected 15"):
        ptb.cut(tmp_path, record)


# The arithmetic.


def test_centres_go_up_to_the_largest_count() -> None:
    peaks = [np.array([10, 20, 31]), np.array([12]), np.array([13, 25])]
    assert ptb.beat_centres(peaks).tolist() == [12, 22, 31]


def test_beat_length_is_the_median_of_medians() -> None:
    peaks = [np.array([0, 10, 20]), np.array([0, 30]), np.array([5]), np.array([0, 14, 28, 29])]
    assert ptb.beat_length(peaks) == 14.0


def test_beats_are_clipped_at_both_ends() -> None:
    signal = np.arange(1.0, 11.0)[:, None]
    beats = ptb.cut_beats(signal, np.array([1, 5, 9]), 7.9, n_times=7)
    assert beats[:, :, 0].tolist() == [
        [0, 1, 2, 3, 4, 0, 0],
        [3, 4, 5, 6, 7, 8, 0],
        [0, 7, 8, 9, 10, 0, 0],
    ]


def test_channel_without_peaks_has_no_say() -> None:
    peaks = [np.array([10, 20]), np.array([], dtype=np.int64), np.array([12, 24])]
    assert ptb.beat_centres(peaks).tolist() == [11, 22]
    assert ptb.beat_length(peaks) == 11.0


# Listing.


def test_patient_with_one_labelled_record_keeps_all_records(tmp_path: Path) -> None:
    make(tmp_path, "patient001/s0001_re", reason="n/a")
    make(tmp_path, "patient001/s0002_re", reason="Myocardial infarction")
    assert [(r.name[-8:], r.label) for r in ptb.records(tmp_path).records] == [
        ("s0001_re", 1),
        ("s0002_re", 1),
    ]


def test_other_diagnosis_is_excluded_with_its_name(tmp_path: Path) -> None:
    make(tmp_path)
    make(tmp_path, "patient002/s0002_re", reason="Valvular heart disease")
    assert ptb.records(tmp_path).excluded == (
        ("patient002/s0002_re", "reason for admission: valvular heart disease"),
    )


def test_patient_of_both_classes_is_excluded(tmp_path: Path) -> None:
    make(tmp_path, "patient001/s0001_re", reason="Healthy control")
    make(tmp_path, "patient001/s0002_re", reason="Myocardial infarction")
    found = ptb.records(tmp_path)
    assert not found.records
    assert {reason for _, reason in found.excluded} == {"patient with records of both classes"}


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        ("records100/00000/00001_lr\n", "no record of PTB"),
        ("../patient001/s0001_re\n", "no record of PTB"),
        ("patient001/s0001_re\npatient002/s0001_re\n", "record s0001_re is listed twice"),
        ("patient009/s0009_re\n", "no record of the 1 in RECORDS is there"),
    ],
)
def test_unusable_list_of_records_is_refused(tmp_path: Path, listing: str, message: str) -> None:
    make(tmp_path)
    (tmp_path / "RECORDS").write_text(listing)
    with pytest.raises(DataError, match=message):
        ptb.records(tmp_path)


def test_folder_without_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"RECORDS: missing; `bench data fetch ptb`"):
        ptb.records(tmp_path)


def test_record_without_header_stays_listed(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / f"{NAME}.hea").unlink()
    (record,) = ptb.records(tmp_path).records
    with pytest.raises(DamagedRecord, match="no 'Reason for admission'"):
        ptb.cut(tmp_path, record)


# Damage.


def test_undamaged_record_is_cut_into_its_beats(tmp_path: Path) -> None:
    record = make(tmp_path)
    windows = ptb.cut(tmp_path, record).windows
    assert windows.shape == (7, 300, 15)
    assert windows[3].argmax(axis=0).tolist() == [150] * 15


def test_slow_heart_gives_no_windows_and_no_damage(tmp_path: Path) -> None:
    record = make(tmp_path, seconds=12.0, beat_s=1.3)
    assert ptb.cut(tmp_path, record).windows.shape == (0, 300, 15)


DAMAGES = {
    "empty signal": (lambda f: (f / f"{NAME}.dat").write_bytes(b""), r"s0001_re\.dat: the file is empty"),
    "empty header": (lambda f: (f / f"{NAME}.hea").write_bytes(b""), r"s0001_re\.hea: the file is empty"),
    "truncated": (
        lambda f: os.truncate(f / f"{NAME}.dat", 4321),
        r"s0001_re\.dat: 4321 bytes, the header says",
    ),
    "no xyz": (lambda f: (f / f"{NAME}.xyz").unlink(), r"s0001_re\.xyz: no such file"),
    "short xyz": (lambda f: os.truncate(f / f"{NAME}.xyz", 6), r"s0001_re\.xyz: 6 bytes, the header says"),
    "order": (lambda f: edit_header(f, "0 ii\n", "0 iii\n"), "channels i iii iii"),
    "rate": (lambda f: edit_header(f, " 15 1000 ", " 15 500 "), "500 Hz, expected 1000 Hz"),
    "length": (lambda f: edit_header(f, " 1000 6000", " 1000 99999999999"), "the header says 23999999"),
    "format": (lambda f: edit_header(f, ".xyz 16 ", ".xyz 212 "), "signal format"),
    "elsewhere": (lambda f: edit_header(f, "s0001_re.dat 16", "s0002_re.dat 16"), "names the signal file"),
    "no header": (lambda f: (f / f"{NAME}.hea").write_bytes(b"\xff\xfe\x00junk"), "not a WFDB header"),
    "gain": (
        lambda f: edit_header(f, ".xyz 16 2000", ".xyz 16 -2000"),
        "vx has a gain of -2000.0: zero, neg",
    ),
    "unit": (lambda f: edit_header(f, ".xyz 16 2000", ".xyz 16 2000/uV"), "vx is in 'uV' instead of 'mV'"),
    "another's": (
        lambda f: edit_header(f, "s0001_re 15 ", "s0002_re 15 "),
        r"s0001_re\.hea: is the header of record 's0002_re'",
    ),
    "long header": (
        lambda f: (f / f"{NAME}.hea").write_bytes(b"# x\n" * 20_000),
        "80000 bytes, at most 65536 are expected",
    ),
    "segments": (lambda f: (f / f"{NAME}.hea").write_text("a/2 15 1000 2\nb 1\nc 1\n"), "multi-segment"),
}


@pytest.mark.parametrize(("action", "message"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_named_in_one_line(tmp_path: Path, action: Callable[[Path], object], message: str) -> None:
    record = make(tmp_path)
    action(tmp_path)
    with pytest.raises(DamagedRecord, match=message) as caught:
        ptb.cut(tmp_path, record)
    assert "\n" not in str(caught.value)


def test_flipped_bit_breaks_the_checksum(tmp_path: Path) -> None:
    record = make(tmp_path)
    content = bytearray((tmp_path / f"{NAME}.dat").read_bytes())
    content[1001] ^= 4
    (tmp_path / f"{NAME}.dat").write_bytes(content)
    with pytest.raises(DamagedRecord, match="checksum of"):
        ptb.cut(tmp_path, record)


def header_fields(folder: Path, lead: int) -> list[str]:
    return (folder / f"{NAME}.hea").read_text().splitlines()[1 + lead].split(" ")


def test_initial_value_is_compared(tmp_path: Path) -> None:
    record = make(tmp_path)
    fields = header_fields(tmp_path, 3)
    changed = [*fields[:5], str(int(fields[5]) + 1), *fields[6:]]
    edit_header(tmp_path, " ".join(fields), " ".join(changed))
    with pytest.raises(DamagedRecord, match=rf"avr starts with {fields[5]}, the header says {changed[5]}"):
        ptb.cut(tmp_path, record)


def test_checksum_of_zero_says_so(tmp_path: Path) -> None:
    record = make(tmp_path)
    fields = header_fields(tmp_path, 3)
    edit_header(tmp_path, " ".join(fields), " ".join([*fields[:6], "0", *fields[7:]]))
    with pytest.raises(
        DamagedRecord, match=r"checksum of avr is \d+, the header says 0; some converters leave"
    ):
        ptb.cut(tmp_path, record)


def test_name_longer_than_the_system_allows_is_one_line(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "RECORDS").write_text(f"patient001/s0001{'x' * 5000}\n")
    with pytest.raises(DataError, match="is no record of PTB"):
        ptb.records(tmp_path)


def test_constant_lead_is_damage(tmp_path: Path) -> None:
    record = make(tmp_path)
    signal = heartbeats()
    signal[:, 13] = 0.25
    write_record(tmp_path, NAME, signal, comments("Healthy control"))
    with pytest.raises(DamagedRecord, match="lead vy is constant"):
        ptb.cut(tmp_path, record)


def test_invalid_samples_are_damage(tmp_path: Path) -> None:
    record = make(tmp_path)
    digital = np.frombuffer((tmp_path / f"{NAME}.xyz").read_bytes(), "<i2").reshape(-1, 3).copy()
    before = int(digital[:, 0].sum(dtype=np.int64).astype(np.int16))
    digital[100, 0] = -32768  # the format's mark of a missing sample
    after = int(digital[:, 0].sum(dtype=np.int64).astype(np.int16))
    (tmp_path / f"{NAME}.xyz").write_bytes(digital.tobytes())
    edit_header(tmp_path, f" {before} 0 vx", f" {after} 0 vx")
    with pytest.raises(DamagedRecord, match="missing or invalid samples in vx"):
        ptb.cut(tmp_path, record)


def test_record_shorter_than_a_second_is_damage(tmp_path: Path) -> None:
    record = make(tmp_path, seconds=0.5)
    with pytest.raises(DamagedRecord, match="500 samples, expected at least one second"):
        ptb.cut(tmp_path, record)


def test_record_of_one_beat_is_damage(tmp_path: Path) -> None:
    record = make(tmp_path, seconds=1.0)
    with pytest.raises(DamagedRecord, match="no lead has two R peaks"):
        ptb.cut(tmp_path, record)


# The simulator.


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cohort") / "ptb"
    simulator.simulate(folder, n_subjects=12, seconds=8.0, seed=5)
    return folder


def test_simulated_cohort_is_read_without_damage(cohort: Path) -> None:
    found = ptb.records(cohort)
    subjects = {record.subject: record.label for record in found.records}
    assert not found.excluded
    assert sorted(subjects.values(), key=str) == [0] * 5 + [1] * 7
    for record in found.records:
        windows = ptb.cut(cohort, record).windows
        assert windows.shape[1:] == (300, 15)
        assert 6 <= len(windows) <= 16


def test_simulation_repeats_bit_for_bit(cohort: Path, tmp_path: Path) -> None:
    simulator.simulate(tmp_path / "again", n_subjects=12, seconds=8.0, seed=5)
    for path in (path for path in cohort.rglob("*") if path.is_file()):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(cohort)).read_bytes()


@pytest.mark.parametrize(
    ("n_subjects", "seconds", "message"),
    [(9, 10.0, "9 subjects; give 10"), (1000, 10.0, "1000 subjects"), (12, 1.0, "records of 1.0 s; give 5")],
)
def test_impossible_size_is_refused(tmp_path: Path, n_subjects: int, seconds: float, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulator.simulate(tmp_path, n_subjects=n_subjects, seconds=seconds, seed=0)


def cross_validated(model: Any, features: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> float:
    scores = []
    for fold in np.unique(folds):
        fitted = model.fit(features[folds != fold], labels[folds != fold])
        right = fitted.predict(features[folds == fold]) == labels[folds == fold]
        scores += [right[labels[folds == fold] == label].mean() for label in set(labels[folds == fold])]
    return float(np.mean(scores))


def test_infarction_is_seen_across_subjects_but_a_split_by_window_flatters(
    simulated: Callable[[str], Path],
) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    folder = simulated("ptb") / "ptb"
    cuts = [ptb.cut(folder, record) for record in ptb.records(folder).records]
    windows = np.concatenate([cut.windows for cut in cuts])[:, 90:240:6]
    labels, subjects = (
        np.concatenate([getattr(cut, name) for cut in cuts]) for name in ("labels", "subject")
    )
    model, features = KNeighborsClassifier(1), windows.reshape(len(windows), -1)
    by_subject = cross_validated(model, features, labels, np.unique(subjects, return_inverse=True)[1] % 5)
    by_window = cross_validated(model, features, labels, np.arange(len(labels)) % 5)
    assert 0.55 < by_subject < 0.95
    assert by_window > by_subject + 0.1
