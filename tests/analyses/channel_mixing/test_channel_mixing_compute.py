"""Correlations of channels against hand-computed values, and what the analysis says of trained layers."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from bench.analyses import store
from bench.analyses.arrays import read_arrays
from bench.analyses.channel_mixing.compute import (
    ClassMatrices,
    analyse_cells,
    class_matrices,
    frobenius_distance,
    mean_of_pairs,
    mixing_layer,
    seed_mixing,
    untrained_layer,
    window_correlations,
)
from bench.analyses.channel_mixing.record import ANALYSIS
from bench.analyses.trained import load_trained
from bench.analyses.trained import test_part as part_for_test
from bench.errors import UsageError
from bench.models.medmamba import MedMamba
from bench.train.part import Part
from tests.analyses.contexts import context_for
from tests.analyses.test_commands import SUFFIXES, invoke, written
from tests.fixtures.trained_cells import Trained

WAVE = np.array([1.0, -1.0, 2.0, 0.0])


def part_of(windows: np.ndarray, labels: list[int]) -> Part:
    n = len(windows)
    return Part(windows.astype(np.float32), np.array(labels), np.array(["a"] * n), np.arange(n))


def test_correlations_of_a_scaled_a_flipped_and_a_constant_channel() -> None:
    window = np.stack([WAVE, 3 * WAVE + 5, -WAVE, np.full(4, 0.1)], axis=1)
    found = window_correlations(window[None])[0]
    np.testing.assert_allclose(found[:3, :3], [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])
    assert np.isnan(found[3]).all()


def test_correlations_agree_with_numpy() -> None:
    window = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(window_correlations(window[None])[0], np.corrcoef(window.T), atol=1e-12)


def test_channel_that_only_rounding_moves_is_constant() -> None:
    window = np.stack([WAVE, 1000 + 1e-5 * WAVE], axis=1)
    assert np.isnan(window_correlations(window[None])[0, 0, 1])


def test_mean_of_pairs_leaves_out_the_diagonal_and_what_is_undefined() -> None:
    matrix = np.array([[1, 0.2, np.nan], [0.2, 1, 0.6], [np.nan, 0.6, 1]])
    assert mean_of_pairs(matrix) == pytest.approx(0.4)
    assert mean_of_pairs(np.full((2, 2), np.nan)) is None


def test_frobenius_distance_by_hand() -> None:
    first, second = np.array([[1, 0.5], [0.5, 1]]), np.array([[1, 0.1], [0.1, 1]])
    assert frobenius_distance(first, second) == pytest.approx(np.sqrt(2 * 0.4**2))


class FillConstant(nn.Module):
    """Put the first channel into the last one."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., :-1], x[..., :1]], dim=-1)


def test_pair_undefined_on_one_side_counts_on_neither() -> None:
    # Channels: wave, its negative, constant. The layer makes the last one a copy of the first.
    windows = np.stack([np.stack([WAVE, -WAVE, 0 * WAVE], axis=1)] * 2)
    found = class_matrices(FillConstant(), part_of(windows, [0, 1]), 2)
    assert found.n_undefined == 4
    assert np.isnan(found.after[:, 0, 2]).all()
    np.testing.assert_allclose(found.after[:, 0, 1], -1)


def test_class_matrices_are_means_over_the_windows_of_the_class() -> None:
    same, flipped = np.stack([WAVE, WAVE], axis=1), np.stack([WAVE, -WAVE], axis=1)
    part = part_of(np.stack([same, same, flipped, flipped, same, flipped]), [0, 0, 0, 0, 1, 2])
    found = class_matrices(nn.Identity(), part, 4)
    np.testing.assert_allclose(found.before[:3, 0, 1], [0, 1, -1], atol=1e-9)
    assert np.isnan(found.before[3]).all()


def test_changes_of_a_layer_by_hand() -> None:
    # Correlations: 0.5 and 0.25 before, 0.4 and 0.1 after; distances 0.25 sqrt 2 and 0.3 sqrt 2.
    def matrices(*off: float) -> np.ndarray:
        return np.array([[[1, one], [one, 1]] for one in off])

    class_names = ("a", "b")
    found = seed_mixing(7, ClassMatrices(matrices(0.5, 0.25), matrices(0.4, 0.1), n_undefined=0), class_names)
    assert [one.signed.change_percent for one in found.correlations] == pytest.approx([-20.0, -60.0])
    assert found.distances[0].norm.change_percent == pytest.approx(20.0)


def test_model_without_mixing_is_refused() -> None:
    model = MedMamba(n_channels=3, n_times=50, n_classes=2, d_model=8, n_layers=1, channel_mixing=False)
    with pytest.raises(UsageError, match="medmamba-no-channel-mixing: has no channel mixing layer"):
        mixing_layer(model, "medmamba-no-channel-mixing")


def test_untrained_layer_is_that_of_its_seed_and_not_the_trained_one(trained: Trained) -> None:
    first, second = trained.with_dropout(0.1)
    found, again, other = untrained_layer(first), untrained_layer(first), untrained_layer(second)
    assert torch.equal(found.up.weight, again.up.weight)
    assert not torch.equal(found.up.weight, other.up.weight)
    assert not torch.equal(
        found.up.weight, mixing_layer(load_trained(trained.out, first), "medmamba").up.weight
    )


@pytest.fixture
def folder(trained: Trained, tmp_path: Path) -> Path:
    """The trained cells in a folder that a test may write to."""
    (tmp_path / "cells").symlink_to(trained.out / "cells")
    return tmp_path


def test_record_of_trained_cells_is_of_their_own_layers(folder: Path, trained: Trained) -> None:
    records = trained.with_dropout(0.1)
    context = context_for(ANALYSIS, folder, trained.data)
    record = analyse_cells(context, records)
    context.write(record)
    assert store.read(folder, ANALYSIS) == ([record], [])
    part = part_for_test(records[1], trained.data)
    layer = mixing_layer(load_trained(folder, records[1]), "medmamba")
    expected = class_matrices(layer, part, 6)
    arrays = read_arrays(ANALYSIS.folder_in(folder), record.stem, record.arrays_sha256)
    np.testing.assert_array_equal(arrays["after"][1], expected.after)
    assert not np.array_equal(arrays["after"][0], arrays["after"][1])


def test_command_prints_and_writes(folder: Path, trained: Trained) -> None:
    done = invoke("channel-mixing", "--datasets", "uci-har", "--out", folder, "--data", trained.data)
    assert "what channel mixing does to the correlations of channels" in done.output
    assert written(folder, "channel-mixing-uci-har-medmamba") == SUFFIXES
