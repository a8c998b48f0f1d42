"""The C kernels that a run's cells use, compiled before them: in no cell's time, and by one process."""

from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from bench.attention.dispatch import CHOICE as ATTENTION
from bench.dropout.dispatch import CHOICE as DROPOUT
from bench.errors import BenchError
from bench.models import registry as models
from bench.scan.dispatch import CHOICE as SCAN

_CHOICES = {choice.what: choice for choice in (SCAN, ATTENTION, DROPOUT)}


def kernels_of(names: Sequence[str], device: str) -> set[str]:
    """Return what models compute by these kernels, such as ``scan``; nothing on a GPU.

    Any network may drop activations.
    """
    if device != "cpu":
        return set()
    networks = [name for name in names if not models.is_estimator(name)]
    settings = {setting for name in networks for setting in models.hyperparameters(name)}
    return _CHOICES.keys() & (settings | ({DROPOUT.what} if networks else set()))


def compile_kernels(kernels: Sequence[str], _connection: Connection) -> None:
    """Have the cache hold what ``auto`` stands for on this CPU; the work of a process.

    Where a kernel cannot be compiled, the cells compute by torch, and their records say so.
    """
    for what in kernels:
        with suppress(BenchError):
            _CHOICES[what].choose("auto", "cpu")
