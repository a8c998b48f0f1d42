"""Autoformer against the published code, and its delays."""

import pytest
import torch

from bench.errors import UsageError
from bench.models import autoformer
from bench.models.autoformer import AutoCorrelation, Autoformer, correlate, count_delays, mix_shifted
from tests.models.golden import (
    DTYPES,
    assert_matches,
    assert_matches_in_training,
    build_from,
    load_fixture,
)
from tests.models.recording import attention_dropout, dropout_shapes, series


def small(**settings: int) -> Autoformer:
    return Autoformer(
        **{"n_channels": 2, "n_times": 20, "n_classes": 3, "d_model": 16, "n_layers": 1, **settings}
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_autoformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("autoformer")
    assert_matches(build_from(fixture), fixture, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_training_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("autoformer")
    assert_matches_in_training(build_from(fixture), fixture, dtype)


def test_correlation_equals_its_definition() -> None:
    q, k = series(2, 3, 2, 12, 4, dtype=torch.float64)
    lagged = [(q.roll(-lag, dims=2) * k).sum(2).mean((1, 2)) for lag in range(12)]
    torch.testing.assert_close(correlate(q, k), torch.stack(lagged, dim=1))


def test_odd_length_has_one_lag_less() -> None:
    q, k = series(2, 3, 2, 13, 4, dtype=torch.float64)
    spectrum = torch.fft.rfft(q, dim=2) * torch.fft.rfft(k, dim=2).conj()
    per_feature = torch.fft.irfft(spectrum, dim=2)  # no length given: 12 lags from 13 steps
    assert correlate(q, k).shape == (3, 12)
    torch.testing.assert_close(correlate(q, k), per_feature.mean((1, 3)))


@pytest.mark.parametrize(
    ("n_times", "factor", "count"),
    [(3, 1, 1), (128, 1, 4), (250, 1, 5), (256, 1, 5), (300, 1, 5), (3000, 1, 8), (48, 2, 7)],
)
def test_number_of_delays(n_times: int, factor: int, count: int) -> None:
    assert count_delays(n_times, factor) == count


@pytest.mark.parametrize(
    ("n_times", "factor", "remedy"),
    [(2, 1, "a longer series"), (20, 0, "larger factor"), (20, 8, "smaller factor")],
)
def test_impossible_number_of_delays_is_refused(n_times: int, factor: int, remedy: str) -> None:
    with pytest.raises(UsageError, match=remedy):
        small(n_times=n_times, factor=factor)


def test_mixing_equals_rolled_copies() -> None:
    v = series(2, 3, 7, 4, dtype=torch.float64)
    delays, weights = torch.tensor([[0, 5], [6, 2]]), torch.tensor([[0.3, 0.7], [0.9, 0.1]], dtype=v.dtype)
    expected = torch.stack(
        [
            sum((w * v[b].roll(-d, dims=1) for d, w in zip(ds, ws, strict=True)), torch.zeros(()))
            for b, (ds, ws) in enumerate(zip(delays.tolist(), weights.tolist(), strict=True))
        ]
    )
    torch.testing.assert_close(mix_shifted(v, delays, weights), expected)


def test_delays_of_the_whole_batch_are_those_of_each_window_to_the_last_bit() -> None:
    delays, weights = torch.tensor([[5, 0]]), torch.rand(2, 2, generator=torch.Generator().manual_seed(0))
    results = []
    for rows in (delays, delays.expand(2, -1)):
        v = series(2, 3, 7, 4).requires_grad_()
        mixed = mix_shifted(v, rows, weights)
        mixed.square().sum().backward()
        results.append((mixed, v.grad))
    for shared, own in zip(*results, strict=True):
        assert torch.equal(shared, own)


def periodic(period: int) -> torch.Tensor:
    return torch.sin(torch.arange(48) * 2 * torch.pi / period).view(1, 1, 48, 1)


def chosen_delays(mechanism: AutoCorrelation, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    seen: list[torch.Tensor] = []
    monkeypatch.setattr(autoformer, "mix_shifted", lambda v, delays, _weights: seen.append(delays) or v)
    # Together they repeat after 24 steps, the second alone after 8.
    x = torch.cat([periodic(12), periodic(8)])
    mechanism(x, x, x)
    return [sorted(row) for row in seen[0].tolist()]


def test_evaluation_chooses_delays_for_each_window(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = chosen_delays(AutoCorrelation(3).eval(), monkeypatch)
    assert all(delay % 12 == 0 for delay in first)
    assert all(delay % 8 == 0 for delay in second)


def test_training_chooses_delays_for_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_delays(AutoCorrelation(2).train(), monkeypatch) == [[0, 24]]


def test_weights_in_training_are_each_windows_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.Tensor] = []
    monkeypatch.setattr(autoformer, "mix_shifted", lambda v, _delays, weights: seen.append(weights) or v)
    x = series(2, 1, 20, 4)
    AutoCorrelation(3).train()(x, x, x)
    assert not torch.allclose(seen[0][0], seen[0][1])


def test_fourier_transforms_stay_in_float32() -> None:
    q, k = series(2, 2, 2, 20, 4).bfloat16()
    assert torch.equal(correlate(q, k), correlate(q.float(), k.float()))


def test_steps_carry_no_position() -> None:
    model, x = small().eval(), series(2, 20, 2)
    torch.testing.assert_close(model.embedding(x.roll(3, dims=1)), model.embedding(x).roll(3, dims=1))


def test_dropout_places(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = dropout_shapes(monkeypatch, small(d_ff=24), series(2, 20, 2))
    tokens, hidden = (2, 20, 16), (2, 20, 24)
    assert shapes == [tokens, tokens, hidden, tokens, tokens]


def test_no_other_attention_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attention_dropout(monkeypatch, small().train(), series(2, 20, 2)) == []
