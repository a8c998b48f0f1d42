"""Windows in the units of their source, where a reader scales whole recordings before it cuts them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.cache.entry import locate
from bench.datasets.contract import DamagedRecord, Dataset
from bench.errors import DataError


@dataclass(frozen=True)
class RecordingScale:
    """What each window's recording was scaled by, in the source's units.

    ``mean`` and ``deviation`` are ``(n_windows, n_channels)``.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def undone(self, windows: NDArray[np.floating], rows: slice) -> NDArray[np.float64]:
        """Return the windows of these rows ``(n, n_times, n_channels)`` in the source's units.

        Steps that padding has set to zero become the recording's mean.
        """
        return windows * self.deviation[rows, None] + self.mean[rows, None]


def recording_scale(root: Path | str, dataset: Dataset) -> RecordingScale | None:
    """Return what the recordings of a dataset's windows were scaled by; None where its reader scales none.

    Parameters
    ----------
    root
        Folder with one sub-folder per dataset; only read.
    dataset
        Its windows as cut.

    Raises
    ------
    DataError
        A recording that the windows were cut from cannot be read any more.
    """
    source = locate(dataset.facts.name, root)
    scale_of = getattr(source.reader, "scale_of", None)
    if scale_of is None:
        return None
    names, of_window = np.unique(dataset.record, return_inverse=True)
    listed = {record.name: record for record in source.listing.records}
    try:
        scales = [scale_of(source.folder, listed[name]) for name in names.tolist()]
    except DamagedRecord as error:
        raise DataError(f"{source.folder}: {error}; get the file again and prepare again") from error
    mean, deviation = (np.stack(values)[of_window] for values in zip(*scales, strict=True))
    return RecordingScale(mean, deviation)
