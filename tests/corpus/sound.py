"""Small sound folders of every kind of file, and how each is read: what the corpus's files are put into."""

import shutil
from collections.abc import Callable
from pathlib import Path

import torch

from bench.analyses.arrays import read_arrays, write_arrays
from bench.datasets.fetch.archive import extract
from bench.datasets.own.own_file import own_reader
from bench.files import sha256_of
from bench.plan.planned import read_planned
from bench.results.pack import pack, verify_pack
from bench.results.predictions import read_predictions
from bench.results.store import read_all
from bench.run.evaluation import read_tensors
from tests.corpus.content import deflated
from tests.datasets import fuzzing
from tests.results.fuzzing import WHOLE

RECORD = next(str(path.relative_to(WHOLE)) for path in sorted(WHOLE.rglob("cells/**/record.json")))
_PREDICTIONS = min(WHOLE.rglob("predictions.npz"))


def _write_results(folder: Path) -> None:
    shutil.copytree(WHOLE, folder, dirs_exist_ok=True)


def _read_records(folder: Path) -> None:
    for error in read_all(folder)[1]:
        raise error


def _write_predictions(folder: Path) -> None:
    shutil.copy(_PREDICTIONS, folder)


def _write_arrays(folder: Path) -> None:
    write_arrays(folder, "stem", {"map": torch.arange(12.0).reshape(6, 2).numpy()})


def _write_pack(folder: Path) -> None:
    pack(WHOLE, folder / "no report", folder / "pack.zip")


def _write_archive(folder: Path) -> None:
    (folder / "archive.zip").write_bytes(deflated({"inside/a.mat": b"some content that is deflated" * 20}))


def _write_checkpoint(folder: Path) -> None:
    torch.save({"weight": torch.zeros(2)}, folder / "weights.pth")


def _write_own_file(folder: Path) -> None:
    (folder / "mine.py").write_text("from tests.datasets.toy_dataset import FACTS, REVISION, cut, records\n")


KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], object]]] = {
    **fuzzing.KINDS,
    "record": (_write_results, _read_records),
    "planned": (_write_results, read_planned),
    "predictions": (_write_predictions, lambda folder: read_predictions(folder / _PREDICTIONS.name)),
    "arrays": (
        _write_arrays,
        lambda folder: read_arrays(folder, "stem", sha256_of(folder / "stem.npz")),
    ),
    "pack": (_write_pack, lambda folder: verify_pack(folder / "pack.zip")),
    "archive": (
        _write_archive,
        lambda folder: extract(folder / "archive.zip", folder / "out", ("*.mat",), 10_000, 10),
    ),
    "checkpoint": (_write_checkpoint, lambda folder: read_tensors(folder / "weights.pth")),
    "own-dataset": (_write_own_file, lambda folder: own_reader(folder / "mine.py")),
}
"""How a sound folder of a kind is written, and read."""
