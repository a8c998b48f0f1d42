"""The moving average that Autoformer and FEDformer take away, and their last normalisation."""

import pytest
import torch

from bench.errors import UsageError
from bench.models.layers.decomposition import RemoveTrend, SeasonalNorm
from tests.models.recording import series


def test_trend_is_the_mean_of_the_window_with_repeated_ends() -> None:
    x = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0]).view(1, 5, 1)
    # Windows of three: (1 1 2), (1 2 4), (2 4 8), (4 8 16), (8 16 16).
    trend = torch.tensor([4.0, 7.0, 14.0, 28.0, 40.0]).view(1, 5, 1) / 3
    torch.testing.assert_close(RemoveTrend(3)(x), x - trend)


def test_window_may_exceed_the_series() -> None:
    x = torch.full((1, 4, 2), 3.0)
    torch.testing.assert_close(RemoveTrend(25)(x), torch.zeros_like(x))


@pytest.mark.parametrize(("window", "remedy"), [(4, 5), (0, 1), (-3, 1)])
def test_even_or_empty_window_is_refused(window: int, remedy: int) -> None:
    with pytest.raises(UsageError, match=f"got {window}; take {remedy}$"):
        RemoveTrend(window)


def test_seasonal_norm_has_no_mean_over_time() -> None:
    norm = SeasonalNorm(6)
    torch.nn.init.normal_(norm.bias, generator=torch.Generator().manual_seed(0))
    x = series(2, 9, 6)
    normalised = norm(x)
    expected = torch.nn.functional.layer_norm(x, (6,))
    torch.testing.assert_close(normalised, expected - expected.mean(1, keepdim=True))
    assert normalised.mean(1).abs().max() < 1e-6
