"""What each time scale of a trained MedMamba sees: the response of its kernels by frequency, and what it is worth.

Source of the claim: MedMamba paper, section "Ablation Study": stride 5 "captures fast transient features in the beta
band", strides 10 and 25 "slower alpha- and theta-band dynamics".
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bench import datasets
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.context import Context
from bench.analyses.scales.frequency_response import (
    fft_length,
    frequencies,
    output_energy,
    relative_gain,
    response,
)
from bench.analyses.scales.record import Band, BranchCell, Options, ScalesCell, ScalesRecord
from bench.analyses.trained import load_trained, trained_data
from bench.datasets.contract import DatasetFacts
from bench.errors import UsageError
from bench.measure.environment import resolve_device
from bench.models.medmamba import MedMamba, PatchEmbedding
from bench.paper import published
from bench.results.record import Record
from bench.train.part import Part
from bench.train.scores import macro_f1
from bench.train.seeding import derived_seed

RHYTHMS = (("delta", 0.5, 4.0), ("theta", 4.0, 8.0), ("alpha", 8.0, 13.0), ("beta", 13.0, 30.0))
"""Bands of the EEG in hertz; everything above is gamma."""

N_PARTS = 4
"""The number of equal ranges that the frequencies of other signals are cut into."""


def bands(is_eeg: bool, rate_hz: float) -> tuple[Band, ...]:
    """Return the bands of a signal: the rhythms of the EEG, or equal ranges up to half the rate."""
    half = rate_hz / 2
    # The last band includes half the sampling rate itself.
    end = float(np.nextafter(half, np.inf))
    if is_eeg:
        known = [Band(name=name, low_hz=low, high_hz=high) for name, low, high in RHYTHMS]
        return (*known, Band(name="gamma", low_hz=RHYTHMS[-1][2], high_hz=end))
    edges = np.linspace(0, half, N_PARTS + 1)
    return tuple(
        Band(
            name=f"{low:.3g} to {high:.3g} Hz",
            low_hz=float(low),
            high_hz=end if high == half else float(high),
        )
        for low, high in pairwise(edges)
    )


def stem_kernels(stem: PatchEmbedding) -> NDArray[np.float64]:
    """Return the kernels ``(d_model, n_channels, stride)`` with the scale of the batch norm behind them.

    In evaluation batch norm is a factor and an offset for each filter; the offset has no frequency.
    """
    assert stem.norm.running_var is not None, "batch norm keeps running statistics"
    factor = stem.norm.weight / torch.sqrt(stem.norm.running_var + stem.norm.eps)
    return (stem.weight * factor[:, None, None]).detach().cpu().numpy().astype(np.float64)


@torch.inference_mode()
def descriptors(model: MedMamba, part: Part, batch_size: int) -> tuple[NDArray[np.float32], Tensor]:
    """Return windows after channel mixing and every branch's vector of each.

    Shapes: ``(n, n_times, n_channels)`` and ``(n, n_branches, d_model)``.
    """
    model.eval()
    device = model.head.projection.weight.device
    mixed, pooled = [], []
    for windows, _ in part.batches(np.arange(len(part)), batch_size):
        x = model.channel_mixing(windows.to(device))
        mixed.append(x.cpu().numpy())
        pooled.append(torch.stack([scale(x) for scale in model.scales], dim=1))
    return np.concatenate(mixed), torch.cat(pooled)


@torch.inference_mode()
def f1_with(model: MedMamba, vectors: Tensor, heard: Sequence[bool], labels: NDArray[np.int64]) -> float:
    """Return the macro F1 when every branch not ``heard`` gives its mean vector for every window.

    ``vectors`` are those of `descriptors`.
    """
    silent = ~torch.tensor(heard, device=vectors.device)[None, :, None]
    joined = torch.where(silent, vectors.mean(dim=0, keepdim=True), vectors).flatten(1)
    logits = model.head.projection(model.head.norm(model.fusion(joined)))
    return macro_f1(logits.float().cpu().numpy(), labels)


def measure_cell(model: MedMamba, part: Part, seed: int, batch_size: int) -> ScalesCell:
    """Return the response of one trained model's branches, and its macro F1 without each and with each alone."""
    mixed, vectors = descriptors(model, part, batch_size)
    labels, n_branches = part.part_labels, len(model.scales)
    n_fft = fft_length(mixed.shape[1])
    branches = []
    for number, scale in enumerate(model.scales):
        transfer = response(stem_kernels(_stem(scale)), n_fft)
        alone = [branch == number for branch in range(n_branches)]
        branches.append(
            BranchCell(
                gain=tuple(relative_gain(transfer)),
                energy=tuple(output_energy(transfer, mixed)),
                f1_without=f1_with(model, vectors, [not kept for kept in alone], labels),
                f1_alone=f1_with(model, vectors, alone, labels),
            )
        )
    return ScalesCell(
        seed=seed, f1=f1_with(model, vectors, [True] * n_branches, labels), branches=tuple(branches)
    )


def run(context: Context, options: Options) -> None:
    """Measure the frequency response of every branch's kernels and macro F1 without each branch."""
    options = options.model_copy(update={"device": resolve_device(options.device)})
    chosen = context.chosen(options, default_models="medmamba", default_datasets="adftd")
    for records in chosen:
        context.write(analyse_cells(context, records, options))


def analyse_cells(context: Context, records: Sequence[Record], options: Options) -> ScalesRecord:
    """Measure cells of one model and dataset that differ in the seed only.

    Raises
    ------
    DataError
        The data are not those of the cells.
    RecordError
        A cell's weights cannot be used.
    UsageError
        The model is not MedMamba or a variant of it.
    """
    first = records[0]
    facts = datasets.facts(first.cell.dataset)
    whole = trained_data(first, context.root_for(records)).part("test")
    rng = np.random.default_rng(derived_seed(options.seed, "test windows"))
    part = whole.draw(options.windows, rng)
    is_eeg = _is_eeg(facts)
    cells = []
    for record in records:
        context.say(f"{record.cell.model}, seed {record.cell.seed}")
        model = _medmamba(load_trained(context.out, record), record).to(options.device)
        cells.append(measure_cell(model, part, record.cell.seed, record.settings["training"]["batch_size"]))
    return ScalesRecord(
        about=AnalysedCells.of(records),
        is_eeg=is_eeg,
        sampling_rate_hz=facts.sampling_rate_hz,
        n_times=facts.n_times,
        strides=tuple(first.settings["hyperparameters"]["strides"]),
        frequencies_hz=tuple(frequencies(facts.n_times, facts.sampling_rate_hz)),
        bands=bands(is_eeg, facts.sampling_rate_hz),
        n_windows=len(part),
        n_windows_of_part=len(whole),
        windows_per_class=tuple(map(int, np.bincount(part.part_labels, minlength=facts.n_classes))),
        cells=tuple(cells),
    )


def _medmamba(model: nn.Module, record: Record) -> MedMamba:
    if not isinstance(model, MedMamba):
        raise UsageError(
            f"--models {record.cell.model}: it has no strided branches; choose medmamba or a variant of it"
        )
    return model


def _stem(scale: nn.Module) -> PatchEmbedding:
    stem = scale.embedding
    assert isinstance(stem, PatchEmbedding), "MedMamba builds its scales from patch embeddings"
    return stem


def _is_eeg(facts: DatasetFacts) -> bool:
    return any(row.dataset == facts.name and row.modality == "EEG" for row in published.dataset_summary())
