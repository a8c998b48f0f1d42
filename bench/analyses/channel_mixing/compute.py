"""What the trained channel mixing does to the correlations between channels, on the test part.

Source: MedMamba paper, section "Effects of Channel Mixing": R_c is the mean over the windows of class c of the
Pearson correlation matrix of the channels; reported are the mean over pairs of channels of each R_c, and the
Frobenius norm of R_i - R_j, before and after the layer. The paper does not say whether the correlations keep their
signs; they do here, and the means without signs stand beside them.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bench import datasets, models
from bench.analyses.analysed_cells import AnalysedCells, stem_of
from bench.analyses.channel_mixing.record import (
    BeforeAfter,
    ChannelMixingRecord,
    ClassCorrelation,
    ClassDistance,
    Options,
    SeedMixing,
)
from bench.analyses.context import Context
from bench.analyses.trained import load_trained, test_part
from bench.errors import UsageError
from bench.models.medmamba import ChannelMixing
from bench.results.record import Record
from bench.train.part import Part
from bench.train.seeding import seed_default_generators

BATCH = 256
CONSTANT_BELOW = 1e-6
"""A channel whose deviation is at most this fraction of its largest magnitude in a window counts as constant."""


def window_correlations(windows: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the Pearson correlations between channels over the time of each window.

    Parameters
    ----------
    windows
        ``(n, n_times, n_channels)``.

    Returns
    -------
    ``(n, n_channels, n_channels)``; NaN in rows and columns of channels that are constant in the window.
    """
    series = np.asarray(windows, dtype=np.float64)
    centred = series - series.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1))
    constant = deviation <= CONSTANT_BELOW * np.abs(series).max(axis=1)
    unit = centred / np.where(constant, np.nan, deviation)[:, None]
    correlations = unit.mT @ unit / series.shape[1]
    return np.clip(correlations, -1.0, 1.0)


def mean_of_pairs(matrix: NDArray[np.float64]) -> float | None:
    """Return the mean over pairs of different channels of a ``(n_channels, n_channels)`` matrix, NaN left out."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    known = pairs[np.isfinite(pairs)]
    return float(known.mean()) if len(known) else None


def frobenius_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return the Frobenius norm of the difference, over the entries defined in both matrices."""
    difference = first - second
    known = difference[np.isfinite(difference)]
    return float(np.sqrt((known**2).sum())) if len(known) else None


class ClassMatrices(NamedTuple):
    """Mean correlation matrices before and after a layer, ``(n_classes, n_channels, n_channels)``.

    NaN where no window of the class has both channels varying on both sides. ``n_undefined`` counts windows and
    pairs of channels that were left out for that.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    n_undefined: int


@torch.inference_mode()
def class_matrices(mixing: nn.Module, part: Part, n_classes: int) -> ClassMatrices:
    """Return the mean correlation matrix of each class before and after a layer in evaluation mode.

    A pair of channels that is undefined on one side in a window counts on neither, so that the change is the layer's.
    """
    n_channels = part.windows.shape[2]
    shape = (n_classes, n_channels, n_channels)
    sums = {"before": np.zeros(shape), "after": np.zeros(shape)}
    counts = np.zeros(shape)
    for windows, labels in part.batches(np.arange(len(part)), BATCH):
        sides = {"before": windows, "after": mixing(windows)}
        found = {side: window_correlations(value.numpy()) for side, value in sides.items()}
        defined = np.isfinite(found["before"]) & np.isfinite(found["after"])
        np.add.at(counts, labels.numpy(), defined)
        for side, correlations in found.items():
            np.add.at(sums[side], labels.numpy(), np.where(defined, correlations, 0.0))
    upper = np.triu_indices(n_channels, 1)
    n_pairs = len(part) * len(upper[0])
    known = np.where(counts > 0, counts, np.nan)
    n_undefined = int(n_pairs - counts[:, upper[0], upper[1]].sum())
    return ClassMatrices(sums["before"] / known, sums["after"] / known, n_undefined)


def seed_mixing(seed: int, matrices: ClassMatrices, class_names: tuple[str, ...]) -> SeedMixing:
    """Return the numbers of the paper's two panels for one trained layer; classes without a window are left out."""
    before, after = matrices.before, matrices.after
    present = [number for number in range(len(class_names)) if np.isfinite(before[number]).any()]
    return SeedMixing(
        seed=seed,
        correlations=tuple(
            ClassCorrelation(
                class_name=class_names[number],
                signed=BeforeAfter(before=mean_of_pairs(before[number]), after=mean_of_pairs(after[number])),
                absolute=BeforeAfter(
                    before=mean_of_pairs(np.abs(before[number])), after=mean_of_pairs(np.abs(after[number]))
                ),
            )
            for number in present
        ),
        distances=tuple(
            ClassDistance(
                first=class_names[first],
                second=class_names[other],
                norm=BeforeAfter(
                    before=frobenius_distance(before[first], before[other]),
                    after=frobenius_distance(after[first], after[other]),
                ),
                n_entries=int(np.isfinite(before[first] - before[other]).sum()),
            )
            for first, other in combinations(present, 2)
        ),
        n_undefined=matrices.n_undefined,
    )


def mixing_layer(model: nn.Module, name: str) -> ChannelMixing:
    """Return the channel mixing layer of a model.

    Raises
    ------
    UsageError
        The model has none.
    """
    layer = getattr(model, "channel_mixing", None)
    if not isinstance(layer, ChannelMixing):
        raise UsageError(
            f"--models {name}: has no channel mixing layer; take medmamba or a variant that mixes"
        )
    return layer


def untrained_layer(record: Record) -> ChannelMixing:
    """Return the untrained layer of a cell, as initialised; no global state changes."""
    name, facts = record.cell.model, datasets.facts(record.cell.dataset)
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        seed_default_generators(record.cell.seed)
        model = models.build(
            name, facts.n_channels, facts.n_times, facts.n_classes, **record.settings["hyperparameters"]
        )
    return mixing_layer(model.eval(), name)


def run(context: Context, options: Options) -> None:
    """Compare the correlations of channels before and after the trained mixing layer, on test windows."""
    chosen = context.chosen(options, default_models="medmamba", default_datasets="adftd")
    for records in chosen:
        context.write(analyse_cells(context, records))


def analyse_cells(context: Context, records: list[Record]) -> ChannelMixingRecord:
    """Analyse cells that differ in the seed alone, see `bench.analyses.trained.alike`; write the arrays.

    Raises
    ------
    UsageError
        The model does not mix channels, or the dataset has one channel only.
    RecordError, DataError
        Weights or data are not those of the records.
    """
    cells = AnalysedCells.of(records)
    layers = [mixing_layer(load_trained(context.out, record), cells.model) for record in records]
    part = test_part(records[0], context.root_for(records))
    n_channels = part.windows.shape[2]
    if n_channels < 2:
        raise UsageError(f"--datasets {cells.dataset}: one channel has no correlations; take another dataset")
    names = cells.data.class_names
    found = [class_matrices(layer, part, len(names)) for layer in layers]
    untrained = [class_matrices(untrained_layer(record), part, len(names)) for record in records]
    arrays = {side: np.stack([getattr(of_layer, side) for of_layer in found]) for side in ("before", "after")}
    return ChannelMixingRecord(
        cells=cells,
        n_entries=len(part) * n_channels * (n_channels - 1) // 2,
        seeds=_seeds(cells, found),
        untrained=_seeds(cells, untrained),
        arrays_sha256=context.write_arrays(stem_of(cells), arrays),
    )


def _seeds(cells: AnalysedCells, found: Sequence[ClassMatrices]) -> tuple[SeedMixing, ...]:
    names = cells.data.class_names
    return tuple(
        seed_mixing(seed, matrices, names) for seed, matrices in zip(cells.seeds, found, strict=True)
    )
