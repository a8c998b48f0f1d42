"""A simulated cohort in the layout of ADFTD (OpenNeuro ds004504): table, description, and filtered recordings."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.adftd import FACTS, SOURCE_RATE_HZ, TABLE
from bench.datasets.simulate.eeg import (
    ALZHEIMER,
    ELECTRODES,
    FRONTOTEMPORAL,
    HEALTHY,
    draw_person,
    resting_eeg,
)
from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.mat_file import write_mat
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import class_counts, subject_generator
from bench.errors import UsageError
from bench.files import atomic_file

REVISION = 3
DEMO = {"n_subjects": 50, "seconds": 10.0}

# In the order of the publisher's table, with its number of subjects of each group.
_GROUPS = (("A", 36, ALZHEIMER), ("C", 29, HEALTHY), ("F", 23, FRONTOTEMPORAL))


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write ``participants.tsv``, ``dataset_description.json`` and one ``derivatives`` recording per subject.

    Parameters
    ----------
    folder
        The dataset's folder, made when it is missing.
    n_subjects
        Subjects, shared among the groups as the published ones are.
    seconds
        Length of each recording at 500 Hz; at least 2.
    seed
        Equal seeds give equal bytes.

    Raises
    ------
    UsageError
        A group would have fewer than four subjects, or recordings would hold no window.
    """
    counts = class_counts(n_subjects, [n for _, n, _ in _GROUPS])
    if seconds < 2:
        raise UsageError(f"recordings of {seconds:g} s are too short; simulate at least 2 s")
    write_marker(
        folder,
        simulator="adftd",
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(counts),
    )
    groups = np.repeat(np.arange(len(_GROUPS)), counts).tolist()
    rows = ["participant_id\tGender\tAge\tGroup\tMMSE"]
    for number, group in enumerate(groups, start=1):
        generator, letter = subject_generator(seed, number), _GROUPS[group][0]
        _write_recording(folder, f"sub-{number:03d}", generator, group, seconds)
        score = 30 if letter == "C" else generator.integers(12, 28)
        rows.append(
            f"sub-{number:03d}\t{generator.choice(['F', 'M'])}\t{generator.integers(50, 80)}\t{letter}\t{score}"
        )
    _write_text(folder / TABLE, "\r\n".join(rows) + "\r\n")
    description = {
        "Name": "Simulated EEG in the layout of ds004504",
        "BIDSVersion": "v1.2.1",
        "License": "CC0",
    }
    _write_text(folder / "dataset_description.json", json.dumps(description, indent=4) + "\n")


def _write_recording(
    folder: Path, subject: str, generator: np.random.Generator, group: int, seconds: float
) -> None:
    # Windows are a second long and end at the middle of the recording, so whole seconds are shown from there.
    shown = draw_shown(generator, np.full(max(1, int(seconds)), group), len(_GROUPS))
    signal = resting_eeg(
        generator,
        [_GROUPS[i][2] for i in shown],
        draw_person(generator, FACTS.n_channels, spread=1.0),
        channel_names=FACTS.channel_names,
        n_times=int(seconds * SOURCE_RATE_HZ),
        sampling_rate_hz=SOURCE_RATE_HZ,
    )
    stem = f"{subject}_task-eyesclosed_eeg"
    write_mat(
        folder / "derivatives" / subject / "eeg" / f"{stem}.set", {"EEG": eeglab_structure(signal, stem)}
    )


def eeglab_structure(signal: NDArray[np.floating], name: str) -> dict[str, Any]:
    """Return EEGLAB's ``EEG`` structure for a recording of ADFTD's channels, with the signal inside.

    Parameters
    ----------
    signal
        ``(n_times, n_channels)`` in microvolt.
    name
        File name without its ending.
    """
    n_times, n_channels = signal.shape
    columns = [("labels", "O"), ("type", "O"), ("X", "O"), ("Y", "O"), ("Z", "O")]
    chanlocs = np.zeros(n_channels, dtype=columns)
    for i, label in enumerate(FACTS.channel_names[:n_channels]):
        right, front = ELECTRODES[label]
        up = float(np.sqrt(max(0.0, 1.0 - right**2 - front**2)))
        # EEGLAB's axes: X to the nose, Y to the left ear; a head's radius is 85 mm.
        chanlocs[i] = (label, "EEG", 85.0 * front, -85.0 * right, 85.0 * up)
    nothing = np.zeros((0, 0))
    return {
        "setname": name,
        "filename": f"{name}.set",
        "filepath": "",
        "nbchan": n_channels,
        "trials": 1,
        "pnts": n_times,
        "srate": SOURCE_RATE_HZ,
        "xmin": 0.0,
        "xmax": (n_times - 1) / SOURCE_RATE_HZ,
        "data": np.asarray(signal.T, dtype=np.float32),
        "icaact": nothing,
        "icawinv": nothing,
        "icasphere": nothing,
        "icaweights": nothing,
        "icachansind": nothing,
        "chanlocs": chanlocs,
        "event": nothing,
        "ref": "A1 A2",
    }


def _write_text(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
