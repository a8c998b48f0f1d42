"""Small folders of windows as users have them, and what reading an imported one gives."""

from pathlib import Path

import numpy as np

from bench.datasets.own.imported import reader_of
from bench.datasets.own.window_folder import Description

KNOWN = Description(
    name="mine",
    title='My "own" study, \\ grün',
    class_names=("ill", "well"),
    channel_names=("a", "b", "c"),
    sampling_rate_hz=100.0,
)
IDS = ["2", "10", "1"]


def windows_of(number: int, n: int = 4) -> np.ndarray:
    return np.random.default_rng(number).normal(size=(n, 5, 3)).astype(np.float32)


def medformer(folder: Path, ids: list[str] = IDS, dtype: str = "float64") -> Path:
    """A folder as the repository's notebooks write it; subject's class is the number modulo 2."""
    (folder / "Feature").mkdir(parents=True)
    (folder / "Label").mkdir()
    for one in ids:
        np.save(folder / "Feature" / f"feature_{one}.npy", windows_of(int(one)).astype(dtype))
    np.save(folder / "Label" / "label.npy", np.array([(int(one) % 2, int(one)) for one in ids]))
    return folder


def arrays() -> dict[str, np.ndarray]:
    return {
        "windows": np.concatenate([windows_of(7), windows_of(8)]),
        "labels": np.array([0, 1, 0, 1, 1, 1, 1, 1]),
        "subject": np.array(["s7", "s8", "s7", "s8", "s7", "s7", "s8", "s8"]),
    }


def npz(folder: Path, given: dict[str, np.ndarray] | None = None) -> Path:
    folder.mkdir()
    np.savez(folder / "windows.npz", allow_pickle=False, **(given or arrays()))
    return folder


def npy(folder: Path, given: dict[str, np.ndarray] | None = None) -> Path:
    folder.mkdir()
    for name, array in (given or arrays()).items():
        np.save(folder / f"{name}.npy", array)
    return folder


def read_all(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    reader = reader_of(folder)
    cuts = [reader.cut(folder, record) for record in reader.records(folder).records]
    return {str(cut.subject[0]): (cut.windows, cut.labels) for cut in cuts}
