"""The hash that names a set of windows: equal windows, labels, subjects and records, equal fingerprint."""

import hashlib

import numpy as np

from bench.datasets.contract import Cut


class Fingerprint:
    """SHA-256 over windows as cut, labels, subjects and records, in order; how they arrive does not matter."""

    def __init__(self) -> None:
        self._parts = {name: hashlib.sha256() for name in ("windows", "labels", "subjects", "records")}
        self._shape: tuple[int, ...] = ()
        self._n_windows = 0

    def add(self, cut: Cut) -> None:
        """Take in the next windows."""
        self._shape = cut.windows.shape[1:]
        self._n_windows += len(cut.windows)
        self._parts["windows"].update(np.ascontiguousarray(cut.windows, dtype="<f4").data)
        self._parts["labels"].update(np.ascontiguousarray(cut.labels, dtype="<i8").data)
        self._parts["subjects"].update("".join(f"{name}\n" for name in cut.subject).encode())
        self._parts["records"].update("".join(f"{name}\n" for name in cut.record).encode())

    def hexdigest(self) -> str:
        """Return the fingerprint of all windows so far: 64 hexadecimal digits."""
        whole = hashlib.sha256(repr((self._n_windows, *self._shape)).encode())
        for part in self._parts.values():
            whole.update(part.digest())
        return whole.hexdigest()
