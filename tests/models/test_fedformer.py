"""FEDformer against the published code, and its frequencies."""

import pytest
import torch

import bench.models
from bench.errors import ModelError, UsageError
from bench.models.fedformer import FEDformer, draw_modes, filter_spectrum
from tests.models.golden import DTYPES, assert_matches, build_from, load_fixture
from tests.models.recording import dropout_shapes, series


def small(**settings: int) -> FEDformer:
    return FEDformer(
        **{"n_channels": 2, "n_times": 20, "n_classes": 3, "d_model": 16, "n_layers": 2, **settings}
    )


def drawn(seed: int, n_times: int, modes: int) -> list[int]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return draw_modes(n_times, modes).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_fedformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("fedformer")
    assert_matches(build_from(fixture), fixture, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fedformer_with_drawn_modes_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("fedformer_modes")
    model = build_from(fixture)
    known = {**fixture.weights, "mode_index": fixture.tensor("aux/mode_index", torch.int64)}
    bench.models.load_reference_weights(model, known)
    assert_matches(model, fixture, dtype)


def test_checkpoint_without_modes_keeps_the_drawn_ones() -> None:
    fixture = load_fixture("fedformer_modes")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = build_from(fixture)
    assert model.get_buffer("mode_index").tolist() == drawn(3, 48, 6)


def test_checkpoint_whose_layers_disagree_is_refused() -> None:
    fixture = load_fixture("fedformer")
    name = "encoder.attn_layers.1.attention.inner_correlation.weights2"
    with pytest.raises(ModelError, match=r"layers.1.*should equal its shared copies"):
        bench.models.load_reference_weights(
            build_from(fixture), {**fixture.weights, name: fixture.weights[name] + 1}
        )


@pytest.mark.parametrize("n_times", [128, 250, 256, 300, 3000, 67])
def test_modes_are_distinct_ascending_and_below_nyquist(n_times: int) -> None:
    modes = drawn(0, n_times, 32)
    assert len(modes) == 32
    assert modes == sorted(set(modes))
    assert 0 <= modes[0] <= modes[-1] < n_times // 2


@pytest.mark.parametrize("n_times", [2, 48, 65])
def test_all_modes_are_taken_when_there_are_few(n_times: int) -> None:
    assert drawn(0, n_times, 32) == list(range(n_times // 2))


def test_modes_follow_the_seed() -> None:
    assert drawn(1, 300, 32) == drawn(1, 300, 32)
    assert drawn(1, 300, 32) != drawn(2, 300, 32)


@pytest.mark.parametrize(("n_times", "modes"), [(1, 32), (20, 0)])
def test_impossible_modes_are_refused(n_times: int, modes: int) -> None:
    with pytest.raises(UsageError, match=f"modes={modes}, n_times={n_times}"):
        small(n_times=n_times, modes=modes)


def test_filter_starts_uniform() -> None:
    model = small(n_times=128, d_model=64)
    for weights in (model.weights1, model.weights2):
        scaled = weights.detach() * 64**2
        assert scaled.shape == (8, 8, 8, 32)
        assert 0 <= scaled.min() < 0.01
        assert 0.99 < scaled.max() < 1
        assert abs(scaled.mean().item() - 0.5) < 0.02


def test_filter_is_stored_once_and_used_by_all_layers() -> None:
    model = small(n_layers=3)
    names = list(model.state_dict())
    assert [name for name in names if "weights" in name] == ["weights1", "weights2"]
    used: list[torch.Tensor] = []
    for layer in model.encoder.layers:
        attention = layer.get_submodule("attention")
        attention.register_forward_hook(lambda _module, inputs, _output: used.append(inputs[3]))
    model(series(2, 20, 2))
    assert len(used) == 3
    assert all(torch.equal(kernel, torch.complex(model.weights1, model.weights2)) for kernel in used)


def test_keys_and_values_are_not_projected() -> None:
    linear = [name for name in small().state_dict() if "layers.0.attention" in name]
    assert linear == [
        f"encoder.layers.0.attention.{one}"
        for one in ("query.weight", "query.bias", "out.weight", "out.bias")
    ]


def wave(phase: float) -> torch.Tensor:
    steps = torch.arange(20, dtype=torch.float64)
    return torch.cos(steps * 2 * torch.pi * 5 / 20 + phase).view(1, 1, 1, 20)


ONE = torch.ones(1, 1, 1, 2, dtype=torch.complex128)


def test_filtered_frequencies_move_to_the_lowest() -> None:
    # Frequency 5 is the second chosen one, so it comes out as frequency 1.
    filtered = filter_spectrum(wave(0.4), ONE, torch.tensor([2, 5]))
    slow = torch.cos(torch.arange(20, dtype=torch.float64) * 2 * torch.pi / 20 + 0.4)
    torch.testing.assert_close(filtered.flatten(), slow)


@pytest.mark.parametrize(("phase", "level"), [(0.0, 0.5), (-torch.pi / 2, 0.0)])
def test_first_chosen_frequency_keeps_only_its_cosine(phase: float, level: float) -> None:
    filtered = filter_spectrum(wave(phase), ONE, torch.tensor([5, 7]))
    torch.testing.assert_close(filtered, torch.full_like(filtered, level))


def test_other_frequencies_are_dropped() -> None:
    filtered = filter_spectrum(wave(0.4), ONE, torch.tensor([4, 6]))
    torch.testing.assert_close(filtered, torch.zeros_like(filtered))


def test_fourier_transforms_stay_in_float32() -> None:
    x = series(2, 8, 2, 20).bfloat16()
    kernel = torch.complex(series(8, 2, 2, 3), series(8, 2, 2, 3, seed=1))
    modes = torch.tensor([1, 4, 6])
    with torch.autocast("cpu", torch.bfloat16):
        actual = filter_spectrum(x, kernel, modes)
    assert torch.equal(actual, filter_spectrum(x.float(), kernel, modes))


def test_dropout_places(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = dropout_shapes(monkeypatch, small(n_layers=1, d_ff=24), series(2, 20, 2))
    tokens, hidden = (2, 20, 16), (2, 20, 24)
    assert shapes == [tokens, tokens, hidden, tokens, tokens]


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UsageError, match="d_model=16, n_heads=3"):
        small(n_heads=3)
