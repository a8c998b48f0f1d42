"""EEGLAB recordings: text of the user never costs the signal, and pairs that were renamed are read with a remark."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.eeglab import read_set
from bench.datasets.simulate.mat_file import write_mat

NAMES = ("Fp1", "Cz", "Pz")
SIGNAL = np.random.default_rng(0).normal(0, 20, (50, 3)).astype(np.float32)
TEXTS = ["", "x", "grün", "\u0394\u0398 \u4e2d", "a" * 5000, "two\nlines"]


def structure(**changes: Any) -> dict[str, Any]:
    chanlocs = np.zeros((1, 3), dtype=[("labels", object), ("type", object)])
    chanlocs["labels"] = [NAMES]
    chanlocs["type"] = ""
    fields = {
        "setname": "",
        "comments": "",
        "nbchan": 3,
        "trials": 1,
        "pnts": 50,
        "srate": 100.0,
        "data": SIGNAL.T,
    }
    return {**fields, "chanlocs": chanlocs, **changes}


def write(folder: Path, **changes: Any) -> None:
    write_mat(folder / "a.set", {"EEG": structure(**changes)})


def refused(folder: Path, message: str) -> None:
    with pytest.raises(DamagedRecord, match=message) as caught:
        read_set(folder, "a.set")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("field", ["setname", "comments", "history"])
def test_text_of_the_user_never_costs_the_signal(tmp_path: Path, field: str, text: str) -> None:
    write(tmp_path, **{field: text})
    found = read_set(tmp_path, "a.set")
    np.testing.assert_array_equal(found.signal, SIGNAL)
    assert found.channel_names == NAMES


@pytest.mark.parametrize("labels", [["", "x", "Pz"], ["Cz", "Cz", "Cz"], ["\u00e9", "\u0394", "7"]])
def test_odd_channel_names_are_names(tmp_path: Path, labels: list[str]) -> None:
    chanlocs = np.zeros((1, 3), dtype=[("labels", object)])
    chanlocs["labels"] = [labels]
    write(tmp_path, chanlocs=chanlocs)
    assert read_set(tmp_path, "a.set").channel_names == tuple(labels)


def test_undecodable_text_never_costs_the_signal(tmp_path: Path) -> None:
    write(tmp_path, comments="my comments")
    content = (tmp_path / "a.set").read_bytes()
    (tmp_path / "a.set").write_bytes(content.replace(b"my comments", b"my c\xff\xfe\xe2ents"))
    np.testing.assert_array_equal(read_set(tmp_path, "a.set").signal, SIGNAL)


def test_logical_data_are_not_microvolts(tmp_path: Path) -> None:
    write(tmp_path, data=SIGNAL.T > 0)
    refused(tmp_path, r"EEG\.data is bool .*not a matrix of real numbers")


def test_renamed_pair_is_read_with_a_remark(tmp_path: Path) -> None:
    write(tmp_path, data="before.fdt")
    SIGNAL.tofile(tmp_path / "a.fdt")
    found = read_set(tmp_path, "a.set")
    np.testing.assert_array_equal(found.signal, SIGNAL)
    assert found.remarks == ("a.set: names 'before.fdt', which is absent; read a.fdt, whose size fits",)


def test_named_companion_wins_without_a_remark(tmp_path: Path) -> None:
    write(tmp_path, data="named.fdt")
    SIGNAL.tofile(tmp_path / "named.fdt")
    (SIGNAL + 1).tofile(tmp_path / "a.fdt")
    found = read_set(tmp_path, "a.set")
    np.testing.assert_array_equal(found.signal, SIGNAL)
    assert found.remarks == ()


def test_companion_of_another_size_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path, data="before.fdt")
    SIGNAL[:-1].tofile(tmp_path / "a.fdt")
    refused(tmp_path, "before.fdt: no such file")


def write_hdf5(folder: Path, *, labels: Any = NAMES, data: Any = SIGNAL, **options: Any) -> Path:
    with h5py.File(folder / "a.set", "w") as file:
        for name, value in {"srate": 100.0, "nbchan": len(NAMES), "pnts": 50.0, "trials": 1.0}.items():
            file[f"EEG/{name}"] = np.array([[float(value)]])
        file.create_dataset("EEG/data", data=data, **options)
        for i, label in enumerate(labels):
            codes = np.frombuffer(label.encode("utf-16-le"), np.uint16)[:, None]
            file[f"#refs#/{i}"] = codes if len(codes) else np.zeros(2, np.uint64)
            if not len(codes):
                file[f"#refs#/{i}"].attrs["MATLAB_empty"] = np.uint8(1)
        references = [[file[f"#refs#/{i}"].ref] for i in range(len(labels))]
        file.create_dataset("EEG/chanlocs/labels", data=np.array(references, dtype=h5py.ref_dtype))
    return folder / "a.set"


@pytest.mark.parametrize("labels", [NAMES, ("", "x", "\U0001f600"), ("\u0394", "Cz", "Cz")])
def test_names_of_version_7_3_are_names(tmp_path: Path, labels: tuple[str, ...]) -> None:
    write_hdf5(tmp_path, labels=labels)
    assert read_set(tmp_path, "a.set").channel_names == labels


def test_only_channel_of_version_7_3_has_its_name_in_place(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path, data=SIGNAL[:, :1])
    with h5py.File(path, "r+") as file:
        del file["EEG/chanlocs/labels"]
        file["EEG/chanlocs/labels"] = np.array([[ord(sign)] for sign in "Oz"], dtype=np.uint16)
        file["EEG/nbchan"][...] = 1.0  # pyright: ignore[reportIndexIssue]
    assert read_set(tmp_path, "a.set").channel_names == ("Oz",)


def test_file_that_another_process_has_locked_is_read(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path)
    import fcntl

    with path.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        np.testing.assert_array_equal(read_set(tmp_path, "a.set").signal, SIGNAL)


def test_references_that_fan_out_are_refused_at_once(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path)
    with h5py.File(path, "r+") as file:
        del file["EEG/chanlocs/labels"]
        one_text = file.create_dataset("#refs#/long", data=np.full((2**20, 1), 65, dtype=np.uint16))
        references = np.full((100_000, 1), one_text.ref, dtype=h5py.ref_dtype)
        file.create_dataset("EEG/chanlocs/labels", data=references)
    refused(tmp_path, r"chanlocs.labels announces \d+ bytes")


def test_logical_data_of_version_7_3_are_not_microvolts(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path, data=(SIGNAL > 0).astype(np.uint8))
    with h5py.File(path, "r+") as file:
        file["EEG/data"].attrs["MATLAB_class"] = np.bytes_("logical")
    refused(tmp_path, "EEG.data holds logical values")


def test_parts_that_are_not_there_are_no_zeros(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path, data=SIGNAL[:10], chunks=(10, 3), maxshape=(None, 3))
    with h5py.File(path, "r+") as file:
        file["EEG/data"].resize((50, 3))  # pyright: ignore[reportAttributeAccessIssue]
    refused(tmp_path, "EEG.data holds 1 of 5 parts")


def test_part_that_inflates_to_more_than_it_announces_is_refused(tmp_path: Path) -> None:
    import zlib

    path = write_hdf5(tmp_path, chunks=(50, 3), compression="gzip")
    with h5py.File(path, "r+") as file:
        file["EEG/data"].id.write_direct_chunk((0, 0), zlib.compress(bytes(2**26)))  # pyright: ignore
    refused(tmp_path, "inflates to more than its 600 bytes")
