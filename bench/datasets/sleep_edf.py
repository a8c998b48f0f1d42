"""Sleep-EDF-20: whole nights of 20 healthy people, one EEG channel, a sleep stage every 30 seconds.

Source: Kemp et al., IEEE Transactions on Biomedical Engineering 47(9), 2000; PhysioNet ``sleep-edfx`` 1.0.0, its
sleep-cassette study, subjects 00 to 19. Preprocessing: the script of akaraspt/deepsleepnet at 08fc330 (Supratak et
al., 2017): Fpz-Cz at 100 Hz, N3 and N4 merged, unscored and movement epochs dropped, then, of those that are left, 60
epochs of wake kept before the first of sleep and 60 after the last. Windows are in microvolt.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord
from bench.datasets.formats.edf import read_annotations, read_header
from bench.datasets.formats.source_files import file_names, is_folder, source_file
from bench.errors import DataError

REVISION = 2
LIBRARIES = ("mne",)

FACTS = DatasetFacts(
    name="sleep-edf",
    title="Sleep-EDF-20: sleep stages of healthy people from one EEG channel",
    version="PhysioNet sleep-edfx 1.0.0, sleep-cassette, subjects 00 to 19",
    task="sleep stage of 30 seconds of EEG",
    class_names=("W", "N1", "N2", "N3", "REM"),
    channel_names=("EEG Fpz-Cz",),
    n_times=3000,
    sampling_rate_hz=100.0,
    normalisation="window",
    n_subjects=20,
    n_windows=42_308,
    homepage="https://physionet.org/content/sleep-edfx/1.0.0/",
    licence="Open Data Commons Attribution 1.0",
    citation="Kemp et al., Analysis of a sleep-dependent neuronal feedback loop: the slow-wave microcontinuity of "
    "the EEG, IEEE Transactions on Biomedical Engineering 47(9):1185-1194, 2000, doi:10.1109/10.867928",
    split_rule="by subject: SC400 to SC411 train, SC412 to SC415 validation, SC416 to SC419 test",
    layout=("sleep-cassette/SC4ssNXX-PSG.edf", "sleep-cassette/SC4ssNXX-Hypnogram.edf"),
    checked_in_files=("rate", "channels"),
    known_problems=(
        "39 nights: the second night of subject 13 is lost",
        "the last letters of a hypnogram's name are its scorer's and differ from those of the recording",
        "hypnograms may be longer than the recording; what is beyond its end is not used",
        "four test subjects only",
        "a paper that says 100 subjects, or 78, used another selection of the same publication",
    ),
)

UNSCORED = -1
EPOCH_S = 30
# Of wake on either side of sleep: 30 minutes.
EDGE_EPOCHS = 60
# Every published night is scored for 24 hours and recorded for less: a file of seven signals with 53 MB.
_MOST_EPOCHS = 2 * 24 * 60 * 60 // EPOCH_S
_MOST_RECORDING_BYTES, _MOST_HYPNOGRAM_BYTES = 2**28, 2**20
STUDY = "sleep-cassette"
_STAGES = {
    "Sleep stage W": 0,
    "Sleep stage 1": 1,
    "Sleep stage 2": 2,
    "Sleep stage 3": 3,
    "Sleep stage 4": 3,
    "Sleep stage R": 4,
    "Sleep stage ?": UNSCORED,
    "Movement time": UNSCORED,
}
# SC4, subject, night; then letters that differ between the two files of a night.
_FILE = re.compile(r"(SC4([0-9]{2})[0-9])[A-Z0-9]{2}-(PSG|Hypnogram)\.edf")


def listed(folder: Path) -> SourceList:
    """List the nights of which at least one of the two files is there, in order of subject and night.

    Raises
    ------
    DataError
        The folder is not Sleep-EDF's, or a night has two recordings or two hypnograms.
    """
    study = folder / STUDY
    if not is_folder(study):
        raise DataError(f"{folder}: no folder {STUDY}; this is not Sleep-EDF Expanded, see {FACTS.homepage}")
    nights: dict[str, dict[str, str]] = {}
    excluded: list[tuple[str, str]] = []
    for name in (name for name in file_names(study) if name.endswith(".edf")):
        match = _FILE.fullmatch(name)
        if not match:
            excluded.append((name, "the name is not SC4ssNXX-PSG.edf or SC4ssNXX-Hypnogram.edf"))
        elif int(match[2]) >= FACTS.n_subjects:
            excluded.append((name, "subjects from 20 on are not in Sleep-EDF-20"))
        elif match[3] in nights.setdefault(match[1], {}):
            raise DataError(f"{study}: {nights[match[1]][match[3]]} and {name} are the same night; keep one")
        else:
            nights[match[1]][match[3]] = name
    if not nights:
        raise DataError(f"{study}: no files of subjects SC400 to SC419; get them from {FACTS.homepage}")
    records = (
        SourceRecord(
            name=night,
            subject=night[:5],
            label=None,
            paths=tuple(f"{STUDY}/{files[kind]}" for kind in ("PSG", "Hypnogram") if kind in files),
        )
        for night, files in sorted(nights.items())
    )
    return SourceList(tuple(records), tuple(excluded))


def records(folder: Path) -> SourceList:
    """List the nights; one that lacks one of its two files fails when it is cut.

    Raises
    ------
    DataError
        As ``listed``, or there is no recording at all.
    """
    nights = listed(folder)
    if not any(path.endswith("-PSG.edf") for night in nights.records for path in night.paths):
        raise DataError(
            f"{folder / STUDY}: {len(nights.records)} hypnograms and no recording (*-PSG.edf); get those from "
            f"{FACTS.homepage}, or with 'bench data fetch sleep-edf'"
        )
    return nights


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Read one night and return its scored epochs around sleep.

    Raises
    ------
    DamagedRecord
        A file of the night is missing or damaged, the two are not of one night, the channel is not at 100 Hz, or
        nobody slept.
    """
    psg = _path_of(folder, record, "PSG", _MOST_RECORDING_BYTES)
    hypnogram = _path_of(folder, record, "Hypnogram", _MOST_HYPNOGRAM_BYTES)
    starts = {path.name: read_header(path).start for path in (psg, hypnogram)}
    # The script compares times: how their digits are parted does not matter.
    if len({re.sub(r"[^0-9]+", " ", start) for start in starts.values()}) > 1:
        raise DamagedRecord(
            f"{psg.name} starts at {starts[psg.name]}, {hypnogram.name} at {starts[hypnogram.name]}: they are not of "
            "one night; get both again"
        )
    signal = _read_signal(psg)
    n_recorded = len(signal) // FACTS.n_times
    scored = stages_of(hypnogram)
    if len(scored) < max(n_recorded - EDGE_EPOCHS, n_recorded // 2):
        raise DamagedRecord(
            f"{hypnogram.name}: scores {len(scored)} epochs of {n_recorded} recorded; cut off? Get it again"
        )
    stages = scored[:n_recorded]
    kept = kept_epochs(stages)
    if not len(kept):
        raise DamagedRecord(f"{hypnogram.name}: no epoch of sleep within the {n_recorded} epochs recorded")
    windows = signal[: n_recorded * FACTS.n_times].reshape(n_recorded, FACTS.n_times, 1)[kept]
    if np.ptp(windows) == 0:
        raise DamagedRecord(f"{psg.name}: channel {FACTS.channel_names[0]} is constant")
    n = len(kept)
    return Cut(windows, stages[kept], np.full(n, record.subject), np.full(n, record.name))


def stages_of(hypnogram: Path) -> NDArray[np.int64]:
    """Return the stage of every 30 seconds since the start of the recording, ``UNSCORED`` for '?' and movement.

    Raises
    ------
    DamagedRecord
        The file is damaged, has a gap, knows another stage, or lasts longer than two days.
    """
    stages: list[NDArray[np.int64]] = []
    end_s = 0.0
    for scored in read_annotations(hypnogram, _MOST_HYPNOGRAM_BYTES):
        name, onset_s, duration_s = scored.text, scored.onset_s, scored.duration_s
        if name not in _STAGES:
            raise DamagedRecord(f"{hypnogram.name}: unknown stage '{name[:40]}' at {onset_s:g} s")
        if onset_s != end_s or duration_s <= 0 or duration_s % EPOCH_S:
            raise DamagedRecord(
                f"{hypnogram.name}: stage '{name}' from {onset_s:g} s for {duration_s:g} s does not continue "
                f"the one that ends at {end_s:g} s in steps of {EPOCH_S} s"
            )
        end_s = onset_s + duration_s
        if end_s > _MOST_EPOCHS * EPOCH_S:
            raise DamagedRecord(f"{hypnogram.name}: scores {end_s:g} s, more than two days; get it again")
        stages.append(np.full(int(duration_s) // EPOCH_S, _STAGES[name], dtype=np.int64))
    if not stages:
        raise DamagedRecord(f"{hypnogram.name}: holds no sleep stages; get it again from the publisher")
    return np.concatenate(stages)


def kept_epochs(stages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the epochs kept: of the scored ones, from 60 before the first of sleep to 60 after."""
    scored = np.flatnonzero(stages != UNSCORED)
    asleep = np.flatnonzero(stages[scored] > 0)
    if not len(asleep):
        return asleep
    return scored[max(asleep[0] - EDGE_EPOCHS, 0) : asleep[-1] + EDGE_EPOCHS + 1]


def _path_of(folder: Path, record: SourceRecord, kind: str, most_bytes: int) -> Path:
    for relative in record.paths:
        if relative.endswith(f"-{kind}.edf"):
            return source_file(folder, relative, most_bytes)
    raise DamagedRecord(f"{record.name}: its file {STUDY}/{record.name}??-{kind}.edf is missing; get it")


def _read_signal(psg: Path) -> NDArray[np.float32]:
    """Return the EEG channel in microvolt."""
    import mne

    channel = FACTS.channel_names[0]
    read_header(psg).only_signal(psg, channel, "uV", FACTS.sampling_rate_hz)
    try:
        # Quieter for this call only: mne warns of filters of channels that are not read. Annotations are of no
        # use here, and every byte is Latin-1, while mne raises a bare Exception on bytes that are not UTF-8.
        raw = mne.io.read_raw_edf(psg, include=[channel], preload=False, encoding="latin1", verbose="ERROR")
        signal_v = raw.get_data()[0]
    except (ValueError, OSError) as error:
        raise DamagedRecord(f"{psg.name}: not a readable recording ({error}); get it again") from error
    return (signal_v * 1e6).astype(np.float32)
