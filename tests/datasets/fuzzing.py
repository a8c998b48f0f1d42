"""Mutated files for every reader, read in a process with little memory and time.

    python -m tests.datasets.fuzzing READER SEED COUNT FOLDER

writes one line of JSON: how many mutated folders gave the same windows, or the same but for values, how many were
refused in one line, and what else happened.
"""

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import edfio
import h5py
import numpy as np

from bench.datasets import adftd, apava, ptb, ptb_xl, sleep_edf, uci_har, weather
from bench.datasets.cache.fingerprint import Fingerprint
from bench.datasets.contract import Cut, DamagedRecord, Reader
from bench.datasets.own import transfer
from bench.datasets.own.description import Description
from bench.datasets.own.imported import reader_of
from bench.datasets.simulate import ptb_xl as ptb_xl_simulator
from bench.datasets.simulate.adftd import eeglab_structure
from bench.datasets.simulate.mat_file import write_mat
from bench.datasets.simulate.ptb import write_record
from bench.errors import BenchError

SECONDS_A_CASE = 20
MOST_BYTES = 3 * 2**30
_SET = "derivatives/sub-001/eeg/sub-001_task-eyesclosed_eeg.set"
_NUMBERS = (b"0", b"-1", b"nan", b"inf", b"1e400", b"99999999999", b"3e10", b"9" * 5000, b"1" * 30, b"\xb2")
_TEXTS = (
    b"[" * 3000,
    b"{" * 3000,
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"../../x",
    b"/dev/zero",
    b"\n",
    b"\t,'\"",
)
_WORDS = (b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x00\x00\x00\x00", b"\xff" * 8, b"\x05\x00\x00\x00")


def _drawn() -> np.random.Generator:
    """Return what a folder is drawn from: the same folder whenever it is written."""
    return np.random.default_rng(0)


def _adftd(folder: Path) -> None:
    (folder / "participants.tsv").write_text("participant_id\tGender\tAge\tGroup\nsub-001\tF\t60\tA\n")
    signal_uv = _drawn().normal(0, 20, (600, 19)).astype(np.float32)
    write_mat(folder / _SET, {"EEG": eeglab_structure(signal_uv, "mutated")})


def _adftd_hdf5(folder: Path) -> None:
    (folder / "participants.tsv").write_text("participant_id\tGroup\nsub-001\tA\n")
    (folder / _SET).parent.mkdir(parents=True)
    signal_uv = _drawn().normal(0, 20, (600, 19)).astype(np.float32)
    with h5py.File(folder / _SET, "w") as file:
        for name, value in {"srate": 500.0, "nbchan": 19.0, "pnts": 600.0, "trials": 1.0}.items():
            file[f"EEG/{name}"] = np.array([[value]])
        file.create_dataset("EEG/data", data=signal_uv, chunks=(100, 19), compression="gzip")
        for i, label in enumerate(adftd.FACTS.channel_names):
            file[f"#refs#/{i}"] = np.array([[ord(sign)] for sign in label], dtype=np.uint16)
        references = [[file[f"#refs#/{i}"].ref] for i in range(19)]
        file.create_dataset("EEG/chanlocs/labels", data=np.array(references, dtype=h5py.ref_dtype))


def _apava(folder: Path) -> None:
    trial = np.empty((1, 1), dtype=object)
    trial[0, 0] = _drawn().normal(0, 30, (16, 1280))
    write_mat(folder / "preproctrials01.mat", {"data": {"fsample": 256, "time": 0, "trial": trial}})
    np.save(folder / "label.npy", np.array([[1.0, 1.0]]))


def _ptb(folder: Path) -> None:
    time = np.arange(3000)
    pulses = np.exp(-0.5 * (((time - 400) % 800 - 400) / 12.0) ** 2)[:, None] * np.linspace(0.8, 1.2, 15)
    noisy = pulses + _drawn().normal(0, 0.01, pulses.shape)
    write_record(folder, "patient001/s0001_re", noisy, {"Reason for admission": "Healthy control"})
    (folder / "RECORDS").write_text("patient001/s0001_re\n")


def _ptb_xl(folder: Path) -> None:
    ptb_xl_simulator.simulate(folder, **{**ptb_xl_simulator.DEMO, "n_subjects": 20}, seed=1)
    table = folder / ptb_xl.TABLE
    table.write_text("\n".join(table.read_text().splitlines()[:2]) + "\n")
    for path in (folder / "records500").rglob("*_hr.*"):
        if not path.name.startswith("00001_hr"):
            path.unlink()


def _sleep_edf(folder: Path) -> None:
    study = folder / sleep_edf.STUDY
    study.mkdir()
    voltage = edfio.EdfSignal(
        _drawn().normal(0, 20, 18_000),
        100,
        label="EEG Fpz-Cz",
        physical_dimension="uV",
        physical_range=(-200, 200),
    )
    edfio.Edf([voltage], data_record_duration=30).write(study / "SC4001E0-PSG.edf")
    stages = [edfio.EdfAnnotation(0, 60, "Sleep stage W"), edfio.EdfAnnotation(60, 120, "Sleep stage 2")]
    edfio.Edf([], annotations=stages).write(study / "SC4001EC-Hypnogram.edf")


def _uci_har(folder: Path) -> None:
    generator = _drawn()
    for part, subject in (("train", 1), ("test", 2)):
        signals = folder / uci_har.ARCHIVE_FOLDER / part / "Inertial Signals"
        signals.mkdir(parents=True)
        for name in uci_har.FACTS.channel_names:
            np.savetxt(signals / f"{name}_{part}.txt", generator.normal(size=(3, 128)), fmt="%.4e")
        for table, value in (("y", 3), ("subject", subject)):
            (signals.parent / f"{table}_{part}.txt").write_text(f"{value}\n" * 3)


def _weather(folder: Path) -> None:
    rows = [
        f"2020-01-01 0{i}:{j}0:00," + ",".join(f"{i + j:.2f}" for _ in range(21))
        for i in range(5)
        for j in range(6)
    ]
    (folder / "weather.csv").write_text(
        "\n".join(["date," + ",".join(weather.FACTS.channel_names), *rows]), "utf-8"
    )


def _windows(folder: Path) -> dict[str, np.ndarray]:
    windows = _drawn().normal(size=(8, 5, 3)).astype(np.float32)
    names = 'name = "mine"\ntitle = "t"\nclass_names = ["a", "b"]\nchannel_names = ["x", "y", "z"]\n'
    text = f"{names}sampling_rate_hz = 10.0\n"
    (folder / "dataset.toml").write_text(text)
    (folder / "SIMULATED.json").write_text('{"simulated": true, "simulator": "x", "seed": 3}')
    return {"windows": windows, "labels": np.arange(8) // 4, "subject": np.array(list("ssttuuvv"))}


def _import_npz(folder: Path) -> None:
    np.savez_compressed(folder / "windows.npz", allow_pickle=False, **_windows(folder))


def _import_npy(folder: Path) -> None:
    for name, array in _windows(folder).items():
        np.save(folder / f"{name}.npy", array)


def _medformer(folder: Path) -> None:
    arrays = _windows(folder)
    description = Description(
        name="mine", title="t", class_names=("a", "b"), channel_names=("x", "y", "z"), sampling_rate_hz=10.0
    )
    given = folder / "given"
    given.mkdir()
    for name, array in arrays.items():
        np.save(given / f"{name}.npy", array)
    made = transfer.import_windows(given, folder, description=description)
    shutil.rmtree(given)
    for path in made.iterdir():
        path.replace(folder / path.name)
    made.rmdir()


class Read(NamedTuple):
    """What came out: the fingerprint of all, and what a damaged sample alone does not change."""

    fingerprint: str
    frame: tuple[Any, ...]


def _taken(cuts: Iterable[Cut]) -> Read:
    fingerprint, frame = Fingerprint(), []
    for cut in cuts:
        fingerprint.add(cut)
        frame.append((cut.windows.shape, cut.labels.tolist(), cut.subject.tolist(), cut.record.tolist()))
    return Read(fingerprint.hexdigest(), tuple(frame))


def _read_windows(reader: Reader) -> Callable[[Path], Read]:
    return lambda folder: _taken(reader.cut(folder, record) for record in reader.records(folder).records)


def _read_series(folder: Path) -> Read:
    values = weather.series(folder).values
    return Read(hashlib.sha256(values.tobytes()).hexdigest(), values.shape)


def _read_import(folder: Path) -> Read:
    root = folder.parent / "imported"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    made = transfer.import_windows(folder, root)
    read = _read_windows(reader_of(made))(made)
    # Labels and subjects are the user's own: whoever changes one says something else.
    shapes = [shape for shape, *_ in read.frame]
    return Read(read.fingerprint, (sum(shape[0] for shape in shapes), {shape[1:] for shape in shapes}))


# How a small folder of each kind is written, and read.
KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], Read]]] = {
    "adftd": (_adftd, _read_windows(adftd)),
    "adftd-7.3": (_adftd_hdf5, _read_windows(adftd)),
    "apava": (_apava, _read_windows(apava)),
    "ptb": (_ptb, _read_windows(ptb)),
    "ptb-xl": (_ptb_xl, _read_windows(ptb_xl)),
    "sleep-edf": (_sleep_edf, _read_windows(sleep_edf)),
    "uci-har": (_uci_har, _read_windows(uci_har)),
    "weather": (_weather, _read_series),
    "npz": (_import_npz, _read_import),
    "npy": (_import_npy, _read_import),
    "medformer": (_medformer, _read_import),
}


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return content with a few damages: other bytes, numbers, texts and lengths, lost and doubled parts."""
    damaged = bytearray(content)
    # Headers come first and are where the damage matters.
    reach = max(1, min(len(damaged), chance.choice((64, 600, 6000, len(damaged)))))
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(reach)
        kind = chance.randrange(8)
        if kind < 3:
            damaged[start : start + 1] = bytes([chance.randrange(256)])
        elif kind == 3:
            digits = [i for i in range(start, min(start + 200, len(damaged))) if 48 <= damaged[i] <= 57]
            number = chance.choice(_NUMBERS)
            if digits:
                damaged[digits[0] : digits[0] + chance.choice((1, len(number)))] = number
        elif kind == 4:
            damaged[start:start] = chance.choice(_TEXTS)
        elif kind == 5:
            word = chance.choice(_WORDS)
            start -= start % 4
            damaged[start : start + len(word)] = word
        elif kind == 6:
            del damaged[start : start + chance.choice((1, 8, 500, len(damaged)))]
        else:
            part = damaged[start : start + chance.choice((8, 100, 2000))]
            damaged[start:start] = part
    return bytes(damaged)


def _put(path: Path, chance: random.Random) -> None:
    """Damage a file, or put something in its place that is none."""
    content = path.read_bytes()
    if chance.random() > 0.08:
        path.write_bytes(mutated(content, chance))
        return
    path.unlink()
    way = chance.choice(("nothing", "empty", "folder", "pipe", "circle", "device"))
    if way == "empty":
        path.write_bytes(b"")
    elif way == "folder":
        path.mkdir()
    elif way == "pipe":
        os.mkfifo(path)
    elif way in ("circle", "device"):
        path.symlink_to(path.name if way == "circle" else "/dev/zero")


def run(kind: str, seed: int, count: int, folder: Path) -> dict[str, object]:
    """Read so many mutated folders and return the counts, with what went wrong."""
    write, read = KINDS[kind]
    whole, work = folder / "whole", folder / "work"
    whole.mkdir()
    write(whole)
    sound = read(whole)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    outcomes = {"same": 0, "other values": 0, "refused": 0}
    wrong: list[str] = []
    for number in range(count):
        chance = random.Random(f"{kind} {seed} {number}")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(whole, work)
        chosen = chance.choice(files)
        _put(work / chosen, chance)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_A_CASE)
        try:
            found = read(work)
            outcomes["same" if found == sound else "other values"] += 1
            if found.frame != sound.frame:
                wrong.append(f"{kind} {seed} {number} {chosen}: other windows without a word")
        except (DamagedRecord, BenchError) as error:
            outcomes["refused"] += 1
            if len(str(error).splitlines()) != 1 or not str(error).isprintable():
                wrong.append(f"{kind} {seed} {number} {chosen}: not one printable line: {str(error)!r}")
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            ours = [
                frame
                for frame in traceback.extract_tb(error.__traceback__)
                if "bench/datasets" in frame.filename
            ]
            wrong.append(
                f"{kind} {seed} {number} {chosen}: {type(error).__name__}: {error} at {last.filename}:{last.lineno}, "
                f"from {[f'{Path(frame.filename).name}:{frame.lineno}' for frame in ours]}"
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return {**outcomes, "wrong": wrong}


def _late(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {SECONDS_A_CASE} s")


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    import mne  # noqa: F401 libraries take their memory before the limit is set
    import neurokit2  # noqa: F401
    import wfdb  # noqa: F401

    signal.signal(signal.SIGALRM, _late)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, resource.RLIM_INFINITY))
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))))
