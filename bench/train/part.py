"""One part of a dataset as the trainer sees it: windows with labels and subjects."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Part:
    """Windows ``(n, n_times, n_channels)`` float32 (memory-mapped or not), labels and subjects of each.

    ``rows`` are the positions of this part's windows; nothing is copied until a batch is asked for.
    """

    windows: NDArray[np.float32]
    labels: NDArray[np.int64]
    subject: NDArray[np.str_]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of windows of the part."""
        return len(self.rows)

    @property
    def part_labels(self) -> NDArray[np.int64]:
        """Labels of the part's windows, in the order of ``rows``."""
        return self.labels[self.rows]

    @property
    def part_subjects(self) -> NDArray[np.str_]:
        """Subjects of the part's windows, in the order of ``rows``."""
        return self.subject[self.rows]

    def batches(self, order: NDArray[np.int64], batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield ``(windows, labels)`` in the given order of positions in the part; the last may be smaller."""
        for start in range(0, len(order), batch_size):
            rows = self.rows[order[start : start + batch_size]]
            yield torch.from_numpy(self.windows[rows]), torch.from_numpy(self.labels[rows])

    def draw(self, n_windows: int, generator: np.random.Generator) -> "Part":
        """Return at most ``n_windows`` windows, the classes in their proportions.

        Every class is kept if ``n_windows`` is at least the number of classes.
        """
        if n_windows >= len(self):
            return self
        chosen = np.sort(interleaved(self.part_labels, generator)[:n_windows])
        return Part(self.windows, self.labels, self.subject, self.rows[chosen])

    def with_shuffled_labels(self, generator: np.random.Generator) -> "Part":
        """Return the part with the labels of its windows permuted among them; labels outside it stay."""
        labels = np.array(self.labels)
        labels[self.rows] = generator.permutation(self.part_labels)
        return Part(self.windows, labels, self.subject, self.rows)


def interleaved(labels: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.intp]:
    """Return an order of positions, random within each class, in which every prefix is stratified.

    It begins with one position of each class; longer prefixes have the classes' proportions.
    """
    shuffled = generator.permutation(len(labels))
    rank = np.empty(len(labels))
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
        rank[members[0]] = 0.0
    return np.argsort(rank, kind="stable")
