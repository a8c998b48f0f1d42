"""A simulated cohort in the layout of APAVA: one MATLAB file per subject with its epochs, and the label table."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.apava import ALZHEIMER, EPOCH_TIMES, FACTS, LABELS
from bench.datasets.simulate.eeg import ALZHEIMER as ALZHEIMER_EEG
from bench.datasets.simulate.eeg import ELECTRODES, HEALTHY, draw_person, resting_eeg
from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.mat_file import write_mat
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import subject_generator
from bench.errors import UsageError
from bench.files import atomic_file

REVISION = 3
DEMO = {"n_subjects": 22, "seconds": 25.0}

# Validation and test subjects are fixed numbers up to 20, labels are known up to 23.
_MIN_SUBJECTS = 20
_EPOCH_S = EPOCH_TIMES / FACTS.sampling_rate_hz
_CONDITIONS = (HEALTHY, ALZHEIMER_EEG)
# Quarters of a second of an epoch, and how many of them show the other class: four windows or five, counted by what
# they mostly show. The published test part has two subjects of a class, one with each number: from a variance of zero
# no interval follows.
_STRETCHES, _DOUBTFUL = 20, (9, 11)
# The publisher does not name the channels; 16 positions without the midline are the montage of the study.
_CHANNELS = tuple(name for name in ELECTRODES if not name.endswith("z"))


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write ``preproctrialsNN.mat`` for subjects 1 to ``n_subjects`` and ``label.npy``, classes as published.

    Parameters
    ----------
    folder
        The dataset's folder, made when it is missing.
    n_subjects
        20 to 23.
    seconds
        Length of each subject's recording, cut in whole epochs of 5 s.
    seed
        Equal seeds give equal bytes.

    Raises
    ------
    UsageError
        The published split cannot be made of so few subjects, there are more than published, or no epoch fits.
    """
    if not _MIN_SUBJECTS <= n_subjects <= FACTS.n_subjects:
        raise UsageError(
            f"{n_subjects} subjects: the split is by fixed numbers, so simulate {_MIN_SUBJECTS} to {FACTS.n_subjects}"
        )
    if seconds < _EPOCH_S:
        raise UsageError(f"recordings of {seconds:g} s hold no epoch; simulate at least {_EPOCH_S:g} s")
    labels = np.array([[float(number in ALZHEIMER), number] for number in range(1, n_subjects + 1)])
    write_marker(
        folder,
        simulator="apava",
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(np.bincount(labels[:, 0].astype(int)).tolist()),
    )
    n_epochs = int(seconds // _EPOCH_S)
    with atomic_file(folder / LABELS) as temporary, temporary.open("wb") as file:
        np.save(file, labels)
    for is_alzheimer, number in labels:
        generator = subject_generator(seed, int(number))
        shown = _draw_shown(generator, int(is_alzheimer), n_epochs, _DOUBTFUL[int(number) // 4 % 2])
        _write_subject(folder / f"preproctrials{int(number):02d}.mat", generator, shown)


def _draw_shown(
    generator: np.random.Generator, label: int, n_epochs: int, n_doubtful: int
) -> NDArray[np.int64]:
    """Return what each quarter of a second of a recording shows, ``(n_stretches,)``.

    Of each five epochs one begins or ends with ``n_doubtful`` quarters of the other class. Of two windows that show
    both classes one is right; always to say the larger class of such windows gains 0.2 points over `attainable`.
    """
    shown = np.full((n_epochs, _STRETCHES), label)
    halves = draw_shown(generator, np.full(2 * n_epochs, label), len(_CONDITIONS)).reshape(n_epochs, 2)
    for epoch, half in np.argwhere(halves != label):
        part = slice(n_doubtful) if half == 0 else slice(-n_doubtful, None)
        shown[epoch, part] = halves[epoch, half]
    return shown.ravel()


def _write_subject(path: Path, generator: np.random.Generator, shown: NDArray[np.int64]) -> None:
    n_epochs = len(shown) // _STRETCHES
    signal = resting_eeg(
        generator,
        [_CONDITIONS[i] for i in shown],
        draw_person(generator, FACTS.n_channels, spread=0.3),
        channel_names=_CHANNELS,
        n_times=n_epochs * EPOCH_TIMES,
        sampling_rate_hz=FACTS.sampling_rate_hz,
    )
    epochs = np.empty((1, n_epochs), dtype=object)
    times = np.empty((1, n_epochs), dtype=object)
    for i in range(n_epochs):
        epochs[0, i] = signal[i * EPOCH_TIMES : (i + 1) * EPOCH_TIMES].T
        times[0, i] = np.arange(EPOCH_TIMES) / FACTS.sampling_rate_hz
    write_mat(path, {"data": {"fsample": FACTS.sampling_rate_hz, "time": times, "trial": epochs}})
