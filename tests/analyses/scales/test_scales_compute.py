"""Frequency responses against sums written out, and what silencing a branch does."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from bench.analyses import store
from bench.analyses.scales.compute import analyse_cells, bands, descriptors, f1_with, stem_kernels
from bench.analyses.scales.frequency_response import (
    fft_length,
    frequencies,
    output_energy,
    relative_gain,
    response,
)
from bench.analyses.scales.record import ANALYSIS, Band, Options, ScalesRecord
from bench.analyses.trained import load_trained, test_part
from bench.errors import UsageError
from bench.models.medmamba import MedMamba, PatchEmbedding
from bench.train.scores import macro_f1
from tests.analyses.contexts import context_for
from tests.fixtures.trained_cells import Trained, train

OPTIONS = Options(device="cpu")


@pytest.fixture(scope="session")
def record(trained: Trained) -> ScalesRecord:
    return analyse_cells(context_for(ANALYSIS, trained.out, trained.data), trained.with_dropout(0.1), OPTIONS)


def test_frequencies_reach_half_the_rate() -> None:
    hz = frequencies(256, 256.0)
    assert (len(hz), hz[0], hz[1], hz[-1]) == (129, 0.0, 1.0, 128.0)


def test_long_and_odd_windows_have_even_transforms() -> None:
    assert [fft_length(n_times) for n_times in (128, 251, 3000)] == [128, 250, 512]


def test_sum_and_difference_are_low_and_high_pass() -> None:
    total = response(np.array([[[1.0, 1.0]]]), 8)
    difference = response(np.array([[[1.0, -1.0]]]), 8)
    assert np.abs(total[:, 0, 0]) == pytest.approx(2 * np.cos(np.pi * np.arange(5) / 8))
    assert np.abs(difference[:, 0, 0]) == pytest.approx(2 * np.sin(np.pi * np.arange(5) / 8))


def test_gain_of_an_impulse_is_one_everywhere() -> None:
    kernels = np.zeros((2, 3, 5))
    kernels[:, :, 3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert relative_gain(response(kernels, 16)) == pytest.approx(np.ones(9))


def test_white_kernels_have_gain_one_in_expectation() -> None:
    kernels = np.random.default_rng(0).uniform(-1, 1, size=(4000, 8, 5))
    assert relative_gain(response(kernels, 64)) == pytest.approx(np.ones(33), abs=0.02)


def test_energy_lies_at_the_rhythm_of_the_windows() -> None:
    hz = frequencies(256, 256.0)
    wave = np.sin(2 * np.pi * 10 * np.arange(256) / 256)[None, :, None]
    energy = output_energy(response(np.ones((1, 1, 1)), 256), wave)
    assert hz[energy.argmax()] == 10
    assert Band(name="near", low_hz=8, high_hz=12.5).total(tuple(energy), tuple(hz)) == pytest.approx(1)


def test_energy_adds_channels_with_their_phases() -> None:
    noise = np.random.default_rng(0).normal(size=(4, 64, 1))
    windows = np.concatenate([noise, noise, np.roll(noise, 1, axis=0)], axis=2)
    # The first filter cancels the first two channels, so that all its output comes from the third.
    cancels = np.array([[[1.0], [-1.0], [1.0]]])
    alone = np.array([[[0.0], [0.0], [1.0]]])
    np.testing.assert_allclose(
        output_energy(response(cancels, 64), windows), output_energy(response(alone, 64), windows)
    )


def test_response_is_that_of_the_convolution() -> None:
    stem = PatchEmbedding(2, 3, 5).eval()
    kernels = stem_kernels(stem)
    t = np.arange(204)
    wave = np.stack([np.cos(2 * np.pi * 8 * t / 64), np.sin(2 * np.pi * 8 * t / 64)], axis=1)
    out = F.conv1d(torch.tensor(wave.T[None]), torch.tensor(kernels)).numpy()[0]
    transfer = response(kernels, 64)[8]
    # A cosine in the first and a sine in the second channel are exp(iwt) times 1 and -i.
    expected = np.abs(transfer @ np.array([1, -1j]))
    # The 200 steps of the output are 25 whole periods.
    np.testing.assert_allclose(np.sqrt(2 * np.mean(out**2, axis=1)), expected)


def test_kernels_carry_the_scale_of_batch_norm() -> None:
    stem = PatchEmbedding(2, 3, 5).eval()
    before = stem_kernels(stem)
    with torch.no_grad():
        stem.norm.weight[1] = 3.0
    assert stem_kernels(stem)[1] == pytest.approx(3 * before[1])


def test_bands_cover_up_to_half_the_rate() -> None:
    hz = frequencies(250, 250.0)
    ones = np.ones(len(hz))
    assert sum(one.total(tuple(ones), tuple(hz)) for one in bands(False, 250.0)) == len(hz)
    assert bands(True, 256.0)[-1].name == "gamma"


def test_hearing_all_branches_is_the_model_itself(trained: Trained) -> None:
    cell = trained.records[0]
    model, part = load_trained(trained.out, cell), test_part(cell, trained.data)
    assert isinstance(model, MedMamba)
    _, vectors = descriptors(model, part, 16)
    windows, labels = next(part.batches(np.arange(len(part)), len(part)))
    with torch.inference_mode():
        logits = model(windows).numpy()
    assert f1_with(model, vectors, [True] * 3, part.part_labels) == macro_f1(logits, labels.numpy())


def test_hearing_no_branch_gives_one_answer_for_all(trained: Trained) -> None:
    cell = trained.records[0]
    model, part = load_trained(trained.out, cell), test_part(cell, trained.data)
    assert isinstance(model, MedMamba)
    _, vectors = descriptors(model, part, 16)
    labels = part.part_labels
    one_answer = {macro_f1(np.eye(6)[np.full(len(labels), k)], labels) for k in range(6)}
    assert f1_with(model, vectors, [False] * 3, labels) in one_answer


def test_record_has_every_branch_of_every_seed(record: ScalesRecord) -> None:
    assert record.strides == (5, 10, 25)
    assert [cell.seed for cell in record.cells] == [41, 42]
    for cell in record.cells:
        for branch in cell.branches:
            assert sum(branch.energy) == pytest.approx(1)
            assert np.mean(branch.gain) == pytest.approx(1)


def test_f1_of_all_branches_is_the_recorded_score(record: ScalesRecord, trained: Trained) -> None:
    metrics = trained.records[0].metrics
    assert metrics is not None
    assert record.n_windows == record.n_windows_of_part
    assert record.cells[0].f1 == pytest.approx(metrics.test.f1)


def test_model_without_branches_is_refused(trained: Trained, tmp_path: Path) -> None:
    (cell,) = train(tmp_path, trained.data, "patchtst", seeds="41")
    with pytest.raises(UsageError, match="--models patchtst: it has no strided branches"):
        analyse_cells(context_for(ANALYSIS, tmp_path, trained.data), [cell], OPTIONS)


def test_record_survives_its_file(record: ScalesRecord, trained: Trained) -> None:
    store.write(trained.out, ANALYSIS, record)
    assert store.read(trained.out, ANALYSIS) == ([record], [])


def test_a_record_replaces_the_file_of_an_older_name(record: ScalesRecord, tmp_path: Path) -> None:
    path = store.write(tmp_path, ANALYSIS, record)
    older = path.rename(path.with_name("medmamba-uci-har.json"))
    store.write(tmp_path, ANALYSIS, record)
    assert not older.exists()
    assert store.read(tmp_path, ANALYSIS) == ([record], [])
