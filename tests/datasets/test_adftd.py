"""ADFTD: the real tables, simulated recordings in all forms of a .set file, and damaged ones."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets import adftd
from bench.datasets.contract import DamagedRecord, SourceRecord
from bench.datasets.formats.eeglab import read_set
from bench.datasets.resampling import resample_linear
from bench.datasets.simulate import adftd as simulator
from bench.datasets.simulate.adftd import eeglab_structure
from bench.datasets.simulate.mat_file import write_mat
from bench.errors import DataError, UsageError

SUBJECT = "sub-001"
SET = f"derivatives/{SUBJECT}/eeg/{SUBJECT}_task-eyesclosed_eeg.set"
RECORD = SourceRecord(name=SUBJECT, subject=SUBJECT, label=2, paths=(SET,))


def noise(n_times: int = 2000, n_channels: int = 19, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 20, (n_times, n_channels)).astype(np.float32)


def write_table(folder: Path, *rows: str, header: str = "participant_id\tGender\tAge\tGroup\tMMSE") -> None:
    (folder / "participants.tsv").write_text("\n".join([header, *rows]) + "\n")


def write_set(folder: Path, signal: NDArray[Any], **changes: Any) -> None:
    structure = eeglab_structure(signal, Path(SET).stem)
    write_mat(folder / SET, {"EEG": {**structure, **changes}})


def write_set_73(folder: Path, signal: NDArray[Any], data: str | None = None) -> None:
    """Write what MATLAB's ``save -v7.3`` writes: a group, transposed matrices, references to labels."""
    path = folder / SET
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w", userblock_size=512) as file:
        eeg = file.create_group("EEG")
        for name, value in {
            "srate": 500,
            "nbchan": signal.shape[1],
            "pnts": len(signal),
            "trials": 1,
        }.items():
            eeg[name] = np.array([[float(value)]])
        eeg["data"] = signal if data is None else np.array([[ord(c)] for c in data], dtype=np.uint16)
        for i, label in enumerate(adftd.FACTS.channel_names[: signal.shape[1]]):
            file[f"#refs#/{i}"] = np.array([[ord(c)] for c in label], dtype=np.uint16)
        references = [[file[f"#refs#/{i}"].ref] for i in range(signal.shape[1])]
        eeg.create_dataset("chanlocs/labels", data=np.array(references, dtype=h5py.ref_dtype))
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM")


def refused(folder: Path, message: str) -> None:
    with pytest.raises(DamagedRecord, match=message) as caught:
        adftd.cut(folder, RECORD)
    assert "\n" not in str(caught.value)


def test_real_table_has_88_subjects_in_published_order(real: Path) -> None:
    listed = adftd.listed(real / "adftd").records
    assert [record.subject for record in listed] == [f"sub-{i:03d}" for i in range(1, 89)]
    # 36 Alzheimer, 29 control, 23 frontotemporal, in this order.
    assert [record.label for record in listed] == [2] * 36 + [0] * 29 + [1] * 23


def test_real_channel_table_agrees_with_the_facts(real: Path) -> None:
    for path in sorted((real / "adftd").glob("sub-*/eeg/*_channels.tsv")):
        rows = path.read_text().splitlines()[1:]
        assert tuple(row.split("\t")[0] for row in rows) == adftd.FACTS.channel_names


def test_real_folder_without_signals_says_how_to_get_them(real: Path) -> None:
    with pytest.raises(DataError, match=r"only the tables of 88 subjects .*'bench data fetch adftd'"):
        adftd.records(real / "adftd")


def test_real_recording_of_eeglab_is_read_like_mne(real: Path) -> None:
    import mne

    folder = real / "other/eeglab-sample"
    found = read_set(folder, "eeglab_data.set")
    expected = mne.io.read_raw_eeglab(folder / "eeglab_data.set", preload=True, verbose="ERROR")
    assert found.channel_names == tuple(expected.ch_names)
    assert found.sampling_rate_hz == expected.info["sfreq"] == 128
    np.testing.assert_allclose(found.signal.T, np.asarray(expected.get_data()) * 1e6, atol=1e-9)


def test_real_recording_of_another_montage_is_refused(real: Path, tmp_path: Path) -> None:
    shutil.copytree(real / "other/eeglab-sample", (tmp_path / SET).parent)
    (tmp_path / SET).with_name("eeglab_data.set").rename(tmp_path / SET)
    refused(tmp_path, r"sub-001.*: 32 channels instead of 19: FPz")


def test_simulated_recording_is_read_like_mne(simulated: Callable[[str], Path]) -> None:
    import mne

    folder = simulated("adftd") / "adftd"
    found = read_set(folder, SET)
    expected = mne.io.read_raw_eeglab(folder / SET, preload=True, verbose="ERROR")
    assert tuple(expected.ch_names) == adftd.FACTS.channel_names
    np.testing.assert_allclose(found.signal.T, np.asarray(expected.get_data()) * 1e6, rtol=1e-6)


def test_windows_are_laid_outward_from_the_middle() -> None:
    signal = np.arange(1000, dtype=float)[:, None] * np.ones(19)
    windows = adftd.windows_from_middle(signal)
    # The middle is 500: one window before it (244 to 499) and one after (500 to 755).
    assert windows[:, 0, 0].tolist() == [244.0, 500.0]
    assert windows.shape == (2, 256, 19)


def test_cut_interpolates_500_to_256_hz(tmp_path: Path) -> None:
    signal = noise(n_times=2001)
    write_set(tmp_path, signal)
    cut = adftd.cut(tmp_path, RECORD)
    # floor(2001 * 256 / 500) = 1024 points, so the middle is 512 and nothing is lost.
    np.testing.assert_array_equal(
        cut.windows.reshape(-1, 19), resample_linear(signal, 1024).astype(np.float32)
    )
    assert set(cut.labels) == {2}
    assert set(cut.subject) == set(cut.record) == {SUBJECT}


@pytest.mark.parametrize("form", ["companion", "field by field", "7.3", "7.3 with companion"])
def test_every_form_of_the_file_gives_the_same_windows(form: str, tmp_path: Path) -> None:
    signal = noise()
    write_set(tmp_path, signal)
    expected = adftd.cut(tmp_path, RECORD).windows
    companion = Path(SET).with_suffix(".fdt").name
    if "companion" in form:
        signal.tofile((tmp_path / SET).with_suffix(".fdt"))
    if form == "companion":
        write_set(tmp_path, signal, data=companion)
    elif form == "field by field":
        write_mat(tmp_path / SET, eeglab_structure(signal, "field by field"))
    else:
        write_set_73(tmp_path, signal, data=companion if "companion" in form else None)
    np.testing.assert_array_equal(adftd.cut(tmp_path, RECORD).windows, expected)


def test_renamed_pair_is_told_by_the_windows(tmp_path: Path) -> None:
    write_set(tmp_path, noise(), data="before.fdt")
    noise().tofile((tmp_path / SET).with_suffix(".fdt"))
    cut = adftd.cut(tmp_path, RECORD)
    assert len(cut.windows) == 4
    assert "names 'before.fdt', which is absent" in cut.remarks[0]


def test_subjects_whose_recording_is_missing_leave_an_excerpt(tmp_path: Path) -> None:
    write_table(tmp_path, "sub-001\tF\t60\tA\t20", "sub-002\tF\t60\tC\t30")
    write_set(tmp_path, noise())
    listing = adftd.records(tmp_path)
    assert [record.name for record in listing.records] == ["sub-001"]
    assert listing.excluded == (("sub-002", "not in the folder"),)


def test_recording_that_vanished_since_is_damage(tmp_path: Path) -> None:
    refused(tmp_path, r"sub-001_task-eyesclosed_eeg.set: no such file")


def test_companion_is_listed_with_the_record(tmp_path: Path) -> None:
    write_table(tmp_path, "sub-001\tF\t60\tA\t20")
    write_set(tmp_path, noise())
    noise().tofile((tmp_path / SET).with_suffix(".fdt"))
    assert adftd.records(tmp_path).records[0].paths == (SET, SET.replace(".set", ".fdt"))


def test_empty_file_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise())
    (tmp_path / SET).write_bytes(b"")
    refused(tmp_path, "the file is empty")


@pytest.mark.parametrize("n_bytes", [100, 130, 5000, -10])
def test_truncated_file_is_refused(n_bytes: int, tmp_path: Path) -> None:
    write_set(tmp_path, noise())
    (tmp_path / SET).write_bytes((tmp_path / SET).read_bytes()[:n_bytes])
    refused(tmp_path, "not a readable MATLAB 5 file")


def test_truncated_hdf5_file_is_refused(tmp_path: Path) -> None:
    write_set_73(tmp_path, noise())
    (tmp_path / SET).write_bytes((tmp_path / SET).read_bytes()[:3000])
    refused(tmp_path, "not a readable MATLAB 7.3 file")


def test_hdf5_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / SET).parent.mkdir(parents=True)
    with h5py.File(tmp_path / SET, "w") as file:
        file["EEG"] = np.zeros(3)
    refused(tmp_path, "EEG is not one structure")


def test_data_outside_of_an_hdf5_file_is_not_read(tmp_path: Path) -> None:
    write_set_73(tmp_path, noise())
    path, other = tmp_path / SET, tmp_path / "other.h5"
    shape = noise().shape
    (tmp_path / "raw").write_bytes(noise().tobytes())
    with h5py.File(other, "w") as file:
        file["data"] = noise()
    layout = h5py.VirtualLayout(shape, np.float32)
    layout[...] = h5py.VirtualSource(other, "data", shape)
    ways: list[tuple[str, Callable[[h5py.Group], object]]] = [
        ("data is a link", lambda eeg: eeg.__setitem__("data", h5py.ExternalLink(str(other), "data"))),
        ("data is a link", lambda eeg: eeg.__setitem__("data", h5py.SoftLink("/EEG/pnts"))),
        (
            "data is stored outside",
            lambda eeg: eeg.create_dataset(
                "data", shape, np.float32, external=[(str(tmp_path / "raw"), 0, noise().nbytes)]
            ),
        ),
        ("data is stored outside", lambda eeg: eeg.create_virtual_dataset("data", layout)),
        (
            "announces 4000000000000 bytes",
            lambda eeg: eeg.create_dataset("data", (10**6, 10**6), "f4", chunks=True),
        ),
    ]
    for message, put in ways:
        with h5py.File(path, "r+") as file:
            eeg = file["EEG"]
            assert isinstance(eeg, h5py.Group)
            del eeg["data"]
            put(eeg)
        refused(tmp_path, message)


def test_web_page_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise())
    (tmp_path / SET).write_text("<html><body>404</body></html>" * 100)
    refused(tmp_path, "not a readable MATLAB 5 file")


def test_placeholder_of_git_annex_is_named(tmp_path: Path) -> None:
    write_set(tmp_path, noise())
    (tmp_path / SET).write_text("/annex/objects/SHA256E-s24357408--a27e1d51.set\n")
    refused(tmp_path, r"git-annex placeholder.*datalad get")


def test_link_to_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / SET).parent.mkdir(parents=True)
    (tmp_path / SET).symlink_to("../missing.set")
    refused(tmp_path, r"link to nothing.*datalad get")


def test_missing_companion_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise(), data="gone.fdt")
    refused(tmp_path, r"gone.fdt: no such file")


def test_truncated_companion_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise(), data="short.fdt")
    noise()[:1000].tofile((tmp_path / SET).with_name("short.fdt"))
    refused(tmp_path, "short.fdt: 76000 bytes instead of 152000")


def test_companion_outside_the_folder_is_refused(tmp_path: Path) -> None:
    noise().tofile(tmp_path / "secret.fdt")
    write_set(tmp_path / "adftd", noise(), data="../../../../secret.fdt")
    refused(tmp_path / "adftd", "outside of the dataset's folder")


def test_wrong_channel_order_is_refused(tmp_path: Path) -> None:
    chanlocs = eeglab_structure(noise(), "")["chanlocs"]
    chanlocs["labels"][:2] = ["Fp2", "Fp1"]
    write_set(tmp_path, noise(), chanlocs=chanlocs)
    refused(tmp_path, "channel 1 is 'Fp2' instead of 'Fp1'")


def test_missing_channel_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise(n_channels=18))
    refused(tmp_path, "18 channels instead of 19")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"srate": 250.0}, "250 Hz instead of 500 Hz"),
        ({"srate": np.nan}, "EEG.srate is not a positive number"),
        ({"srate": "fast"}, "EEG.srate is not a positive number"),
        ({"pnts": -5}, "EEG.pnts is not a positive number"),
        ({"pnts": 1999}, r"announces 19 x 1999 values and holds \(19, 2000\)"),
        ({"nbchan": 10**12}, "EEG.nbchan is not a positive number"),
        ({"nbchan": 20}, "19 channel names for 20 channels"),
        ({"trials": 2}, "is cut in .* epochs"),
        ({"data": np.zeros((19, 100, 2))}, "not a matrix of real numbers"),
        ({"data": np.ones((19, 2000)) * 1j}, "not a matrix of real numbers"),
        ({"chanlocs": np.zeros((0, 0))}, "EEG.chanlocs has no labels"),
    ],
)
def test_absurd_field_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    write_set(tmp_path, noise(), **changes)
    refused(tmp_path, message)


def test_missing_field_is_named(tmp_path: Path) -> None:
    structure = eeglab_structure(noise(), "")
    del structure["data"]
    write_mat(tmp_path / SET, {"EEG": structure})
    refused(tmp_path, "has no field EEG.data")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_absurd_sample_is_refused(value: float, tmp_path: Path) -> None:
    signal = noise()
    signal[7, 3] = value
    write_set(tmp_path, signal)
    refused(tmp_path, "1 values are NaN, infinite or beyond")


def test_constant_channel_is_named(tmp_path: Path) -> None:
    signal = noise()
    signal[:, 16] = 3.0
    write_set(tmp_path, signal)
    refused(tmp_path, "channel Fz is constant")


def test_recording_shorter_than_a_window_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, noise(n_times=499))
    refused(tmp_path, "499 samples are less than one window")


def test_flipped_bytes_never_end_the_process(tmp_path: Path) -> None:
    """scipy alone ends by a signal on some of such files; here each is read or refused."""
    write_set(tmp_path, noise(n_times=600))
    whole = (tmp_path / SET).read_bytes()
    generator = np.random.default_rng(0)
    outcomes = set()
    for _ in range(120):
        damaged = bytearray(whole)
        for position in generator.integers(128, 6000, generator.integers(1, 8)):
            damaged[position] = generator.integers(256)
        (tmp_path / SET).write_bytes(bytes(damaged))
        try:
            adftd.cut(tmp_path, RECORD)
            outcomes.add("read")
        except DamagedRecord:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_folder_of_another_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "RECORDS").write_text("patient001/s0010_re\n")
    with pytest.raises(DataError, match=r"participants.tsv: no such file; this is not ds004504"):
        adftd.records(tmp_path)


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (["sub-001\t3"], "participant_id\tage", "needs columns participant_id and Group"),
        ([], "participant_id\tGroup", "has no rows"),
        (["sub-001\tX"], "participant_id\tGroup", "subject 'sub-001' has group 'X'"),
        (["sub-001\tA", "sub-001\tA"], "participant_id\tGroup", "subject 'sub-001' has 2 rows"),
        (["sub-../../x\tA"], "participant_id\tGroup", "is not a subject's name"),
        ([f"sub-{'0' * 300}\tA"], "participant_id\tGroup", "is not a subject's name"),
        (["sub-1\x002\tA"], "participant_id\tGroup", r"'sub-1\\x002' is not a subject's name"),
        (["sub-001"], "participant_id\tGroup", "line 2: row cut off"),
    ],
)
def test_unusable_table_is_refused(rows: list[str], header: str, message: str, tmp_path: Path) -> None:
    write_table(tmp_path, *rows, header=header)
    with pytest.raises(DataError, match=message):
        adftd.records(tmp_path)


def test_table_of_100_000_rows_takes_linear_time(tmp_path: Path) -> None:
    write_table(tmp_path, *(f"sub-{i:06d}\tF\t60\tA\t20" for i in range(100_000)))
    assert len(adftd.listed(tmp_path).records) == 100_000


def test_table_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "participants.tsv")
    with pytest.raises(DataError, match="is a pipe or a device instead of a file"):
        adftd.records(tmp_path)


def test_table_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "participants.tsv").write_bytes("participant_id\tGroup\nsub-001\tA\n".encode("utf-16"))
    with pytest.raises(DataError, match="not a table in UTF-8"):
        adftd.records(tmp_path)


def test_simulation_depends_on_the_seed_only(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulator.simulate(tmp_path / name, n_subjects=16, seconds=2, seed=seed)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 16 + 3
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)
    assert (tmp_path / "a" / SET).read_bytes() != (tmp_path / "c" / SET).read_bytes()


def test_simulation_of_too_few_subjects_says_how_many(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="simulate at least 13"):
        simulator.simulate(tmp_path, n_subjects=6, seconds=2, seed=1)


def test_simulation_too_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 2 s"):
        simulator.simulate(tmp_path, n_subjects=16, seconds=1, seed=1)
