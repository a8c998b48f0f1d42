"""Sleep-EDF: the real hypnograms, simulated nights, and damaged ones."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import edfio
import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets import sleep_edf
from bench.datasets.contract import DamagedRecord
from bench.datasets.simulate import sleep_edf as simulator
from bench.datasets.simulate.sleep_edf import draw_night
from bench.datasets.splits import published_totals
from bench.errors import DataError, UsageError

PSG, HYPNOGRAM = "SC4001E0-PSG.edf", "SC4001EC-Hypnogram.edf"
NIGHT = (("Sleep stage W", 60), ("Sleep stage 1", 30), ("Sleep stage 2", 60), ("Sleep stage R", 30))
# What the cited script leaves of each night of the excerpt, SC4001 to SC4092: see `by_the_rule_in_words`.
EPOCHS_OF_NIGHTS = (
    *(841, 1127, 1103, 1186, 1025, 1009, 952, 911, 1235, 1200),
    # The last has movement within the hour around sleep: by the clock there would be 1104.
    *(672, 1246, 843, 1016, 976, 1273, 1134, 1054, 1132, 1105),
)


def study(folder: Path) -> Path:
    path = folder / sleep_edf.STUDY
    path.mkdir(parents=True, exist_ok=True)
    return path


def signal(
    values: NDArray[np.float64], label: str = "EEG Fpz-Cz", rate_hz: float = 100, unit: str = "uV"
) -> edfio.EdfSignal:
    return edfio.EdfSignal(values, rate_hz, label=label, physical_dimension=unit, physical_range=(-200, 200))


def noise(seconds: int = 180, rate_hz: int = 100) -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(0, 20, seconds * rate_hz)


def write_psg(folder: Path, *signals: edfio.EdfSignal, name: str = PSG) -> Path:
    path = study(folder) / name
    edfio.Edf(signals or [signal(noise())], data_record_duration=30).write(path)
    return path


def write_hypnogram(folder: Path, *stages: tuple[str, float], name: str = HYPNOGRAM) -> Path:
    annotations, at_s = [], 0.0
    for stage, duration_s in stages or NIGHT:
        annotations.append(edfio.EdfAnnotation(at_s, duration_s, stage))
        at_s += duration_s
    path = study(folder) / name
    edfio.Edf([], annotations=annotations).write(path)
    return path


def write_night(folder: Path) -> tuple[Path, Path]:
    return write_psg(folder), write_hypnogram(folder)


def edit(path: Path, offset: int, text: str) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + len(text)] = text.encode()
    path.write_bytes(bytes(content))


def cut_only(folder: Path) -> Any:
    (record,) = sleep_edf.records(folder).records
    return sleep_edf.cut(folder, record)


def refused(folder: Path, message: str) -> None:
    with pytest.raises(DamagedRecord, match=message) as caught:
        cut_only(folder)
    assert "\n" not in str(caught.value)


def by_the_rule_in_words(hypnogram: Path) -> list[int]:
    """The stages kept of a night, told anew and read by mne: nothing here is the reader's.

    Walk through the scores and write one letter for each 30 seconds; whatever is not a stage is left out at once.
    Then look for the first and the last letter that is not W, and keep 60 letters more on either side.
    """
    import mne

    letters = {"W": "W", "1": "1", "2": "2", "3": "3", "4": "3", "R": "R"}
    written = ""
    scores = mne.read_annotations(hypnogram)
    for duration_s, name in zip(scores.duration, scores.description, strict=True):
        written += letters.get(name.removeprefix("Sleep stage "), "") * round(duration_s / 30)
    n_before, n_after = len(written) - len(written.lstrip("W")), len(written) - len(written.rstrip("W"))
    kept = written[max(0, n_before - 60) : len(written) - max(0, n_after - 60)]
    return ["W123R".index(letter) for letter in kept]


def test_real_nights_keep_the_epochs_of_the_cited_script(real: Path) -> None:
    nights = sleep_edf.listed(real / "sleep-edf").records
    counts = []
    for night in nights:
        path = real / "sleep-edf" / night.paths[0]
        stages = sleep_edf.stages_of(path)
        kept = stages[sleep_edf.kept_epochs(stages)].tolist()
        assert kept == by_the_rule_in_words(path)
        counts.append(len(kept))
    assert tuple(counts) == EPOCHS_OF_NIGHTS
    assert sum(counts) == 21_040


def test_real_nights_are_paired_by_stem_and_belong_to_ten_subjects(real: Path) -> None:
    nights = sleep_edf.listed(real / "sleep-edf").records
    assert sorted({night.subject for night in nights}) == [f"SC40{i}" for i in range(10)]
    assert nights[0].name == "SC4001"


def test_real_folder_without_recordings_says_how_to_get_them(real: Path) -> None:
    with pytest.raises(DataError, match=r"20 hypnograms and no recording .*'bench data fetch sleep-edf'"):
        sleep_edf.records(real / "sleep-edf")


def test_real_list_of_the_publisher_has_39_nights_of_our_subjects(real: Path) -> None:
    names = [Path(line).name for line in (real / "sleep-edf/RECORDS").read_text().split()]
    nights = [name for name in names if name.startswith("SC4") and int(name[3:5]) < 20]
    assert len(nights) == 39
    assert "SC4132" not in {name[:6] for name in nights}


def test_totals_of_the_classes_add_up() -> None:
    assert sum(published_totals("sleep-edf") or ()) == sleep_edf.FACTS.n_windows == 42_308


def test_wake_is_kept_for_30_minutes_around_sleep() -> None:
    stages = np.zeros(400, dtype=np.int64)
    stages[[150, 200]] = 2
    assert sleep_edf.kept_epochs(stages).tolist() == list(range(90, 261))


def test_wake_is_kept_from_the_start_when_sleep_comes_early() -> None:
    stages = np.array([0, 0, 1, 0])
    assert sleep_edf.kept_epochs(stages).tolist() == [0, 1, 2, 3]


def test_unscored_epochs_are_dropped_before_the_edges_are_counted() -> None:
    stages = np.zeros(200, dtype=np.int64)
    stages[100] = 2
    stages[50:60] = sleep_edf.UNSCORED
    assert sleep_edf.kept_epochs(stages).tolist() == [*range(30, 50), *range(60, 161)]


def test_stages_of_a_night(tmp_path: Path) -> None:
    path = write_hypnogram(
        tmp_path,
        *(("Sleep stage W", 60), ("Movement time", 30), ("Sleep stage 3", 30), ("Sleep stage 4", 30)),
        *(("Sleep stage R", 30), ("Sleep stage ?", 60)),
    )
    assert sleep_edf.stages_of(path).tolist() == [0, 0, -1, 3, 3, 4, -1, -1]


def test_cut_gives_microvolt_windows_with_their_stages(tmp_path: Path) -> None:
    values = noise()
    write_psg(tmp_path, signal(noise(), "EEG Pz-Oz"), signal(values), signal(np.ones(180), "Temp rectal", 1))
    write_hypnogram(tmp_path)
    cut = cut_only(tmp_path)
    assert cut.windows.shape == (6, 3000, 1)
    assert cut.labels.tolist() == [0, 0, 1, 2, 2, 4]
    np.testing.assert_allclose(cut.windows.ravel(), values, atol=400 / 65535)
    assert set(cut.subject) == {"SC400"}
    assert set(cut.record) == {"SC4001"}


def test_hypnogram_longer_than_the_recording_is_cut(tmp_path: Path) -> None:
    write_psg(tmp_path)
    write_hypnogram(tmp_path, *NIGHT, ("Sleep stage 2", 300))
    assert cut_only(tmp_path).labels.tolist() == [0, 0, 1, 2, 2, 4]


def test_recording_longer_than_the_hypnogram_is_cut(tmp_path: Path) -> None:
    write_psg(tmp_path, signal(noise(300)))
    write_hypnogram(tmp_path)
    assert len(cut_only(tmp_path).windows) == 6


START = 168


def test_dates_do_not_matter_where_both_files_have_them(tmp_path: Path) -> None:
    night = write_night(tmp_path)
    expected = cut_only(tmp_path).labels
    for path in night:
        edit(path, START, "31.02.89yesterda")
    np.testing.assert_array_equal(cut_only(tmp_path).labels, expected)


@pytest.mark.parametrize("start", ["25.04.8900.00.00", "01.01.8500.00.30", "24.04.8916.13.00"])
@pytest.mark.parametrize("which", [0, 1])
def test_files_that_start_at_different_times_are_refused(start: str, which: int, tmp_path: Path) -> None:
    edit(write_night(tmp_path)[which], START, start)
    refused(tmp_path, f"{PSG} starts at .*, {HYPNOGRAM} at .*: they are not of one night")


def test_hypnogram_much_shorter_than_the_recording_is_refused(tmp_path: Path) -> None:
    write_psg(tmp_path, signal(noise(600)))
    write_hypnogram(tmp_path)
    refused(tmp_path, "scores 6 epochs of 20 recorded; cut off")


def test_hypnogram_of_half_an_hour_too_little_is_refused(tmp_path: Path) -> None:
    write_psg(tmp_path, signal(noise(30 * 200)))
    write_hypnogram(tmp_path, ("Sleep stage 2", 30 * 139))
    refused(tmp_path, "scores 139 epochs of 200 recorded")
    write_hypnogram(tmp_path, ("Sleep stage 2", 30 * 140))
    assert len(cut_only(tmp_path).windows) == 140


def test_hypnogram_of_a_thousand_years_is_refused(tmp_path: Path) -> None:
    write_psg(tmp_path)
    write_hypnogram(tmp_path, ("Sleep stage W", 3e10))
    refused(tmp_path, "(more than two days|is no annotation)")
    write_hypnogram(tmp_path, ("Sleep stage W", 30 * 10**7))
    refused(tmp_path, r"scores 3e\+08 s, more than two days")


def test_size_of_another_signal_that_moves_ours_is_refused(tmp_path: Path) -> None:
    """The file stays long enough for its header, but every data record would start in the wrong place."""
    other = signal(noise(), "EEG Pz-Oz")
    psg = write_psg(tmp_path, signal(noise()), other)
    write_hypnogram(tmp_path)
    # Samples per data record of the second signal: after 216 bytes of two signals each, and 8 of the first.
    edit(psg, 256 + 2 * 216 + 8, "2999    ")
    refused(tmp_path, rf"{PSG}: \d+ bytes, its header announces \d+")


def test_bytes_after_the_last_data_record_are_refused(tmp_path: Path) -> None:
    psg, _ = write_night(tmp_path)
    psg.write_bytes(psg.read_bytes() + b"more")
    refused(tmp_path, "its header announces")


def test_subjects_from_20_on_are_left_out_with_the_reason(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, name="SC4201E0-PSG.edf")
    listing = sleep_edf.records(tmp_path)
    assert [record.name for record in listing.records] == ["SC4001"]
    assert listing.excluded == (("SC4201E0-PSG.edf", "subjects from 20 on are not in Sleep-EDF-20"),)


def test_file_of_another_name_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, name="SC4001E0-PSG (1).edf")
    assert sleep_edf.records(tmp_path).excluded[0][0] == "SC4001E0-PSG (1).edf"


@pytest.mark.parametrize("name", ["SC4001E1-PSG.edf", "SC4001EH-Hypnogram.edf"])
def test_second_file_of_a_night_is_refused(name: str, tmp_path: Path) -> None:
    psg, hypnogram = write_night(tmp_path)
    shutil.copy(psg if "PSG" in name else hypnogram, study(tmp_path) / name)
    with pytest.raises(DataError, match=rf"and {name} are the same night"):
        sleep_edf.records(tmp_path)


def test_folder_of_another_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "participants.tsv").write_text("participant_id\tGroup\n")
    with pytest.raises(DataError, match="no folder sleep-cassette; this is not Sleep-EDF"):
        sleep_edf.records(tmp_path)


def test_folder_of_other_subjects_is_refused(tmp_path: Path) -> None:
    write_psg(tmp_path, name="SC4201E0-PSG.edf")
    with pytest.raises(DataError, match="no files of subjects SC400 to SC419"):
        sleep_edf.records(tmp_path)


def test_missing_hypnogram_is_damage_of_one_night(tmp_path: Path) -> None:
    write_psg(tmp_path)
    refused(tmp_path, r"SC4001: its file sleep-cassette/SC4001\?\?-Hypnogram.edf is missing")


def test_missing_recording_is_damage_of_one_night(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_hypnogram(tmp_path, name="SC4002EC-Hypnogram.edf")
    _, second = sleep_edf.records(tmp_path).records
    with pytest.raises(DamagedRecord, match=r"SC4002: its file .*-PSG.edf is missing"):
        sleep_edf.cut(tmp_path, second)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("n_bytes", "message"), [(0, "is empty"), (200, "not an EDF"), (300, "header"), (-2, "truncated")]
)
def test_truncated_file_is_refused(which: int, n_bytes: int, message: str, tmp_path: Path) -> None:
    path = write_night(tmp_path)[which]
    path.write_bytes(path.read_bytes()[:n_bytes])
    refused(tmp_path, f"{path.name}: .*{message}")


@pytest.mark.parametrize("which", [0, 1])
def test_web_page_is_refused(which: int, tmp_path: Path) -> None:
    path = write_night(tmp_path)[which]
    path.write_text("<html><body>404</body></html>" * 100)
    refused(tmp_path, f"{path.name}: not an EDF file")


def test_missing_channel_is_refused_with_those_present(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, signal(noise(), "EEG C3-A2"))
    refused(tmp_path, "has 0 channels 'EEG Fpz-Cz' instead of 1, but: EEG C3-A2")


def test_doubled_channel_is_refused(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, signal(noise()), signal(noise()))
    refused(tmp_path, "has 2 channels 'EEG Fpz-Cz'")


def test_wrong_rate_is_refused(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, signal(noise(rate_hz=200), rate_hz=200))
    refused(tmp_path, "'EEG Fpz-Cz' has 200 Hz instead of 100 Hz")


def test_wrong_unit_is_refused(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, signal(noise(), unit="mV"))
    refused(tmp_path, "'EEG Fpz-Cz' is in 'mV' instead of 'uV'")


def test_constant_channel_is_refused(tmp_path: Path) -> None:
    write_night(tmp_path)
    write_psg(tmp_path, signal(np.full(18_000, 5.0)))
    refused(tmp_path, "channel EEG Fpz-Cz is constant")


# Offsets in the header of a file with one signal: 256 bytes of the file, then the signal's fields.
@pytest.mark.parametrize(
    ("offset", "text", "message"),
    [
        (184, "99999999", r"size of header in the header is 1e\+08, an absurd value"),
        (192, "EDF+D", "is a discontinuous recording"),
        (236, "-1      ", "number of data records in the header is -1"),
        (236, "7       ", "truncated"),
        (244, "0       ", "has 0 Hz instead of 100 Hz"),
        (244, "nan     ", "duration of a data record in the header is nan"),
        (252, "9999", "number of signals in the header is 9999"),
        (256 + 104, "nan     ", "physical minimum in the header is nan"),
        (256 + 104, "200     ", "absurd range, 200 to 200"),
        (256 + 104, "-1e300  ", r"absurd range, -1e\+300 to 200"),
        (256 + 120, "32767   ", "an absurd range"),
        (256 + 216, "none    ", "samples per data record in the header is b'none    ', not a number"),
    ],
)
def test_absurd_header_is_refused(offset: int, text: str, message: str, tmp_path: Path) -> None:
    psg, _ = write_night(tmp_path)
    edit(psg, offset, text)
    refused(tmp_path, message)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([*NIGHT, ("Sleep stage X", 30)], "unknown stage 'Sleep stage X' at 180 s"),
        ([("Sleep stage W", 45), ("Sleep stage 2", 15)], "does not continue .* in steps of 30 s"),
        ([("Sleep stage W", 180)], "no epoch of sleep within the 6 epochs recorded"),
        ([("Sleep stage W", 600), ("Sleep stage 2", 60)], "no epoch of sleep within the 6 epochs recorded"),
    ],
)
def test_unusable_hypnogram_is_refused(stages: list[tuple[str, float]], message: str, tmp_path: Path) -> None:
    write_psg(tmp_path)
    write_hypnogram(tmp_path, *stages)
    refused(tmp_path, message)


def test_hypnogram_with_a_gap_is_refused(tmp_path: Path) -> None:
    write_psg(tmp_path)
    stages = [edfio.EdfAnnotation(0, 30, "Sleep stage W"), edfio.EdfAnnotation(60, 30, "Sleep stage 2")]
    edfio.Edf([], annotations=stages).write(study(tmp_path) / HYPNOGRAM)
    refused(tmp_path, "'Sleep stage 2' from 60 s for 30 s does not continue the one that ends at 30 s")


def test_recording_in_place_of_the_hypnogram_is_refused(tmp_path: Path) -> None:
    psg = write_psg(tmp_path)
    shutil.copy(psg, study(tmp_path) / HYPNOGRAM)
    refused(tmp_path, "holds no sleep stages")


def test_hypnogram_in_an_unreadable_encoding_is_refused(tmp_path: Path) -> None:
    _, hypnogram = write_night(tmp_path)
    hypnogram.write_bytes(hypnogram.read_bytes().replace(b"stage R", b"stage \xff"))
    refused(tmp_path, r"SC4001EC-Hypnogram.edf: (not a readable hypnogram|unknown stage)")


@pytest.mark.parametrize("n_epochs", [10, 15, 40, 960])
def test_simulated_night_has_all_stages_in_a_scorers_order(n_epochs: int) -> None:
    stages = draw_night(np.random.default_rng(0), n_epochs)
    assert len(stages) == n_epochs
    assert set(stages) == {0, 1, 2, 3, 4}
    assert stages[0] == stages[-1] == 0


def test_simulated_whole_night_is_near_the_published_proportions() -> None:
    stages = np.concatenate([draw_night(np.random.default_rng(i), 960) for i in range(20)])
    asleep = np.bincount(stages, minlength=5)[1:] / (stages > 0).sum()
    totals = (published_totals("sleep-edf") or ())[1:]
    published = np.array(totals) / sum(totals)
    np.testing.assert_allclose(asleep, published, atol=0.05)


def test_simulated_hypnograms_are_longer_and_of_several_scorers(simulated: Callable[[str], Path]) -> None:
    folder = simulated("sleep-edf") / "sleep-edf"
    nights = sleep_edf.records(folder).records
    n_epochs = int(simulator.DEMO["seconds"] // 30)
    assert len(nights) == 2 * simulator.DEMO["n_subjects"]
    assert all(len(sleep_edf.stages_of(folder / night.paths[1])) > n_epochs for night in nights[:3])
    assert len({night.paths[1][-15] for night in nights}) > 1


def test_simulated_delta_power_grows_with_depth(simulated: Callable[[str], Path]) -> None:
    folder = simulated("sleep-edf") / "sleep-edf"
    cuts = [sleep_edf.cut(folder, record) for record in sleep_edf.records(folder).records[:8]]
    windows, labels = np.concatenate([c.windows for c in cuts]), np.concatenate([c.labels for c in cuts])
    power = np.abs(np.fft.rfft(windows[:, :, 0])) ** 2
    # Bins are 1/30 Hz wide: 0.5 to 2 Hz.
    delta = np.log(power[:, 15:60].sum(1))
    means = [delta[labels == stage].mean() for stage in range(5)]
    assert means[3] > means[2] > max(means[0], means[1], means[4])


def test_simulation_depends_on_the_seed_only(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulator.simulate(tmp_path / name, n_subjects=17, seconds=300, seed=seed)
    a, b, c = (sorted((tmp_path / name / sleep_edf.STUDY).glob("*PSG.edf")) for name in "abc")
    assert len(a) == 34
    assert [path.read_bytes() for path in a] == [path.read_bytes() for path in b]
    assert a[0].read_bytes() != c[0].read_bytes()


@pytest.mark.parametrize("n_subjects", [16, 21])
def test_simulation_needs_the_subjects_of_the_split(n_subjects: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="simulate 17 to 20"):
        simulator.simulate(tmp_path, n_subjects=n_subjects, seconds=300, seed=1)


def test_simulation_too_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 300 s"):
        simulator.simulate(tmp_path, n_subjects=17, seconds=299, seed=1)
