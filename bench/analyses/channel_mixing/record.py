"""The record of what the trained channel mixing does to the correlations between channels."""

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord, Part

NAME = "channel-mixing"


class BeforeAfter(Part):
    """One number on the two sides of the mixing layer; None where it is not defined."""

    before: float | None
    after: float | None

    @property
    def change_percent(self) -> float | None:
        """Return the change relative to the size of the number before; None where that is zero or unknown."""
        return relative_change(self.before, self.after)


class ClassCorrelation(Part):
    """Mean over the pairs of channels of one class's mean correlation matrix, with signs and without."""

    class_name: str
    signed: BeforeAfter
    absolute: BeforeAfter


class ClassDistance(Part):
    """Frobenius norm of the difference between two classes' mean correlation matrices.

    ``n_entries`` of the matrices are known for both classes, the rest is left out; None in records that do not say.
    """

    first: str
    second: str
    norm: BeforeAfter
    n_entries: int | None = None


class SeedMixing(Part):
    """What one trained mixing layer does. Classes without a test window are left out."""

    seed: int
    correlations: tuple[ClassCorrelation, ...]
    distances: tuple[ClassDistance, ...]
    n_undefined: int


class ChannelMixingRecord(AnalysisRecord):
    """All trained seeds of one model on one dataset.

    ``n_entries`` is the number of correlations of each side, over windows and pairs of channels; of those
    ``n_undefined`` (per seed) had a constant channel on one side and are left out on both. ``untrained`` is the same of
    the layers as they were before training. ``arrays_sha256`` is of the file with the classes' mean matrices:
    ``before`` and ``after`` the trained layers, (seeds, classes, channels, channels).
    """

    cells: AnalysedCells
    n_entries: int
    seeds: tuple[SeedMixing, ...]
    untrained: tuple[SeedMixing, ...]
    arrays_sha256: str


def relative_change(before: float | None, after: float | None) -> float | None:
    """Return the change in percent of the size of ``before``; None where that is zero or one is unknown."""
    if before is None or after is None or before == 0:
        return None
    return 100 * (after - before) / abs(before)
