"""Contents of damaged files: bytes that are replaced in a sound file, and whole files that lie about themselves."""

import io
import json
import pickle
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
import scipy.sparse
import torch

from bench.datasets.adftd import FACTS
from bench.datasets.simulate.adftd import eeglab_structure
from bench.results.pack_archive import new_entry

Damage = Callable[[bytes], bytes]
"""The content of a sound file to that of a damaged one."""

EDF_SIGNALS = 256
"""Where an EDF file's fields of signals begin, in bytes."""


def whole(content: bytes) -> Damage:
    """Replace everything."""
    return lambda _: content


def first(n_bytes: int) -> Damage:
    """Keep the first bytes."""
    return lambda sound: sound[:n_bytes]


def at(position: int, content: bytes) -> Damage:
    """Replace what stands at a place."""
    return lambda sound: sound[:position] + content + sound[position + len(content) :]


def instead(before: bytes, after: bytes) -> Damage:
    """Replace the first of some bytes, which must be there."""

    def damaged(sound: bytes) -> bytes:
        assert before in sound, before
        return sound.replace(before, after, 1)

    return damaged


def field(where: str, value: object) -> Damage:
    """Replace one value of a JSON file, named by dots."""

    def damaged(sound: bytes) -> bytes:
        record = json.loads(sound)
        *way, last = where.split(".")
        holder = record
        for name in way:
            holder = holder[name]
        holder[last] = value
        return json.dumps(record, indent=1).encode()

    return damaged


def deflated(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of files that is the same whenever it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            entry = new_entry(name)
            entry.compress_type = method
            archive.writestr(entry, content)
    return buffer.getvalue()


def encrypted(sound: bytes) -> bytes:
    """Mark the first entry of an archive as encrypted, in its own header and in the directory."""
    damaged = bytearray(sound)
    damaged[sound.index(b"PK\x03\x04") + 6] |= 1
    damaged[sound.index(b"PK\x01\x02") + 8] |= 1
    return bytes(damaged)


def understated(sound: bytes) -> bytes:
    """Have an archive of one entry announce a hundred bytes of content."""
    size = struct.pack("<I", zipfile.ZipFile(io.BytesIO(sound)).infolist()[0].file_size)
    return sound.replace(size, struct.pack("<I", 100))


def null_hash(sound: bytes) -> bytes:
    """Return a pack of one page whose manifest has no hash of it."""
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(sound)).read("manifest.json"))
    manifest["files"] = {"report/index.html": {"sha256": None, "bytes": 4}}
    return deflated({"manifest.json": json.dumps(manifest).encode(), "report/index.html": b"page"})


def tar(name: str, content: bytes) -> bytes:
    """Return a tar archive of one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def npy(header: str, content: bytes = b"") -> bytes:
    """Return an array file with any text as its header."""
    text = header.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def saved(array: np.ndarray[Any, Any]) -> bytes:
    """Return what numpy writes for an array, objects pickled."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def matlab(variables: dict[str, Any]) -> bytes:
    """Return what scipy writes for variables, without the date in the header."""
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables)
    return b"MATLAB 5.0 MAT-file".ljust(116) + buffer.getvalue()[116:]


def recording(**fields: object) -> dict[str, Any]:
    """Return EEGLAB's structure of a second of silence, with some of its fields replaced."""
    return {"EEG": {**eeglab_structure(np.zeros((500, 19), np.float32), "corpus"), **fields}}


def sparse_recording(_: bytes) -> bytes:
    """A MATLAB array of class sparse where the signal is."""
    return matlab(recording(data=scipy.sparse.eye(19, 500)))


def logical_recording(_: bytes) -> bytes:
    """Logical values where microvolts are."""
    return matlab(recording(data=np.ones((19, 500), bool)))


def matlab_bomb(_: bytes) -> bytes:
    """A compressed MATLAB variable that inflates to sixteen million bytes and announces a thousand."""
    stream = zlib.compress(struct.pack("<II", 14, 1000) + bytes(1 << 24), 9)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + struct.pack("<II", 15, len(stream)) + stream


def hdf5(fill: Callable[[h5py.File], None]) -> Damage:
    """Write a recording of version 7.3 whose signal, or whose names, a function adds."""

    def damaged(_: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file.set"
            with h5py.File(path, "w") as file:
                for name, value in {"srate": 500.0, "nbchan": 19.0, "pnts": 600.0, "trials": 1.0}.items():
                    file[f"EEG/{name}"] = np.array([[value]])
                fill(file)
            return path.read_bytes()

    return damaged


def absent_parts(file: h5py.File) -> None:
    """A signal of 600 samples of which the file holds none."""
    file.create_dataset("EEG/data", (600, 19), np.float32, chunks=(100, 19), compression="gzip")
    _name_channels(file, [file.create_dataset(f"#refs#/{i}", data=_text(name)) for i, name in _names()])


def fan_out(file: h5py.File) -> None:
    """Names of channels: 2,000 references to one text of 100,000 signs."""
    file.create_dataset(
        "EEG/data", data=np.zeros((600, 19), np.float32), chunks=(100, 19), compression="gzip"
    )
    text = file.create_dataset("#refs#/long", data=_text("A" * 100_000), chunks=True, compression="gzip")
    _name_channels(file, [text] * 2000)


def _names() -> list[tuple[int, str]]:
    return list(enumerate(FACTS.channel_names))


def _text(text: str) -> np.ndarray[Any, Any]:
    return np.array([[ord(sign)] for sign in text], dtype=np.uint16)


def _name_channels(file: h5py.File, texts: list[h5py.Dataset]) -> None:
    references = np.array([[text.ref] for text in texts], dtype=h5py.ref_dtype)
    file.create_dataset("EEG/chanlocs/labels", data=references)


class _Runs:
    """Unpickled, it ends the process."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[int]]:
        return exit, (3,)


def pickled_code(_: bytes) -> bytes:
    """A checkpoint with code in it, as torch writes it."""
    buffer = io.BytesIO()
    torch.save({"weight": _Runs()}, buffer)
    return buffer.getvalue()


def pickled_labels(_: bytes) -> bytes:
    """Labels that are objects."""
    return saved(np.array([[_Runs(), 1.0]], dtype=object))


def bare_pickle(_: bytes) -> bytes:
    """A pickle and nothing else."""
    return pickle.dumps(_Runs())
