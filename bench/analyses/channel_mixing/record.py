"""The record of what the trained channel mixing does to the correlations between channels."""

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysis_record import CellsRecord
from bench.results.frozen_model import FrozenModel

NAME = "channel-mixing"


class BeforeAfter(FrozenModel):
    """One number on the two sides of the mixing layer; None where it is not defined."""

    before: float | None
    after: float | None

    @property
    def change_percent(self) -> float | None:
        """Return the change relative to the size of the number before; None where that is zero or unknown."""
        return relative_change(self.before, self.after)


class ClassCorrelation(FrozenModel):
    """Mean over the pairs of channels of one class's mean correlation matrix, with signs and without."""

    class_name: str
    signed: BeforeAfter
    absolute: BeforeAfter


class ClassDistance(FrozenModel):
    """Frobenius norm of the difference between two classes' mean correlation matrices.

    ``n_entries`` entries are defined for both classes, the others are left out; None in older records without it.
    """

    first: str
    second: str
    norm: BeforeAfter
    n_entries: int | None = None


class SeedMixing(FrozenModel):
    """What one trained mixing layer does. Classes without a test window are left out."""

    seed: int
    correlations: tuple[ClassCorrelation, ...]
    distances: tuple[ClassDistance, ...]
    n_undefined: int


class ChannelMixingRecord(CellsRecord):
    """All trained seeds of one model on one dataset.

    ``n_entries`` is the number of correlations of each side, over windows and pairs of channels; of those
    ``n_undefined`` (per seed) had a constant channel on one side and are left out on both. ``untrained`` is the same of
    the layers as they were before training. ``arrays_sha256`` is of the file with the classes' mean matrices:
    ``before`` and ``after`` the trained layers, (seeds, classes, channels, channels).
    """

    n_entries: int
    seeds: tuple[SeedMixing, ...]
    untrained: tuple[SeedMixing, ...]
    arrays_sha256: str


class Options(contract.CellOptions):
    """What ``bench analyze channel-mixing`` asks for."""

    datasets: str | None = Field(default=None, description="A comma list of names, or all. [default: adftd]")
    models: str | None = Field(
        default=None,
        description="A comma list of MedMamba and variants that mix channels. [default: medmamba]",
    )


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Channel mixing",
    summary="What trained channel mixing does to the correlations of channels.",
    examples=(
        "bench analyze channel-mixing",
        "bench analyze channel-mixing --datasets ptb-xl --data DIR --out results",
    ),
    options=Options,
    record=ChannelMixingRecord,
    package="bench.analyses.channel_mixing",
)


def relative_change(before: float | None, after: float | None) -> float | None:
    """Return the change in percent of the size of ``before``; None where that is zero or one is unknown."""
    if before is None or after is None or before == 0:
        return None
    return 100 * (after - before) / abs(before)
