"""Finding a recording that lies under two subjects: one of the two labels is wrong, and training would see the test."""

import hashlib
from collections.abc import Collection

import numpy as np

from bench.datasets.contract import Cut


class Copies:
    """Remembers what each subject's part of each record holds, by its hash.

    Parameters
    ----------
    known
        Records that the publisher knows to be copies; they stay, as they are in the published windows.
    """

    def __init__(self, known: Collection[str]) -> None:
        self.known = frozenset(known)
        self._owners: dict[bytes, tuple[str, str]] = {}

    def reason(self, record: str, cut: Cut) -> str | None:
        """Take in the windows of a record; say which other subject has the same ones, None where nobody has."""
        if record in self.known:
            return None
        names, owner = np.unique(cut.subject, return_inverse=True)
        for i, subject in enumerate(map(str, names)):
            windows = cut.windows if len(names) == 1 else cut.windows[owner == i]
            digest = hashlib.sha256(np.ascontiguousarray(windows).data).digest()
            earlier, other = self._owners.setdefault(digest, (record, subject))
            if other != subject:
                return (
                    f"{record} of subject {subject} holds the same as {earlier} of subject {other}: one of them lies "
                    "in the wrong place; get both again"
                )
        return None
