"""Dropout drawn from a key and a counter: the same bytes everywhere, at the given rate, and as a layer."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from bench.dropout import CHOICE, Dropped, drop
from bench.dropout.native import backend
from bench.dropout.philox import philox
from bench.errors import UsageError
from bench.models.layers.dropout import Dropout
from bench.native.library import ISA_NAMES
from tests.scan.cases import needs_compiler

SEED = 0xFEDC_BA98_7654_3210
BACKENDS = ["torch", pytest.param("native", marks=needs_compiler)]
SIZES = [1, 15, 16, 127, 128, 129, 1000, 128 * 512 + 5]


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


# Counter, key and words of seven rounds, from the known answers that Random123 1.14 is tested by (kat_vectors).
KNOWN = {
    (0, 0, 0, 0): (0, [0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48]),
    (0xFFFFFFFF,) * 4: (2**64 - 1, [0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662]),
    (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344): (
        0x299F31D0A4093822,
        [0x4DFCCABA, 0x190A87F0, 0xC47362BA, 0xB6B5242A],
    ),
}


@pytest.mark.parametrize("counter", KNOWN)
def test_words_are_those_of_philox(counter: tuple[int, int, int, int]) -> None:
    key, words = KNOWN[counter]
    a, b, c, d = (np.array([number], dtype=np.uint64) for number in counter)
    assert philox((a, b, c, d), key).tolist() == [words]


@needs_compiler
@pytest.mark.parametrize("position", range(len(ISA_NAMES)))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_instruction_set_gives_the_bytes_of_torch(
    position: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    if position > backend.DROPOUT.best_isa:
        pytest.skip(f"this machine has no {ISA_NAMES[position]}")
    monkeypatch.setattr(backend.DROPOUT, "best_isa", position)
    for size in SIZES:
        x = normal(size, dtype=dtype)
        found, expected = (drop(x, Dropped.at(0.3, SEED), backend=name) for name in ("native", "torch"))
        assert torch.equal(found, expected), size


@needs_compiler
def test_bytes_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = normal(128 * 2000 + 3)
    found = []
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda n_threads=n_threads: n_threads)
        found.append(drop(x, Dropped.at(0.3, SEED), backend="native"))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.9])
def test_share_of_the_dropped_is_the_rate(rate: float) -> None:
    dropped = drop(torch.ones(200_000), Dropped.at(rate, SEED)) == 0
    deviation = (rate * (1 - rate) / 200_000) ** 0.5
    assert abs(dropped.double().mean().item() - rate) < 4 * deviation + 2**-16


@pytest.mark.parametrize("shift", [1, 2, 8, 15, 16, 17, 64, 128, 2048])
def test_numbers_are_dropped_independently(shift: int) -> None:
    dropped = (drop(torch.ones(200_000), Dropped.at(0.3, SEED)) == 0).double()
    correlation = torch.corrcoef(torch.stack([dropped[shift:], dropped[:-shift]]))[0, 1].item()
    assert abs(correlation) * 200_000**0.5 < 4.5


@pytest.mark.parametrize("name", BACKENDS)
def test_kept_numbers_are_scaled_so_that_the_mean_stays(name: str) -> None:
    x = normal(3, 50)
    y = drop(x, Dropped.at(0.25, SEED), backend=name)
    torch.testing.assert_close(y[y != 0], (x / 0.75)[y != 0])


@pytest.mark.parametrize("name", BACKENDS)
def test_gradient_is_dropped_in_the_same_places(name: str) -> None:
    x = normal(300).requires_grad_()
    y = drop(x, Dropped.at(0.3, SEED), backend=name)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient == 0, y == 0)
    torch.testing.assert_close(gradient * x.detach(), y.detach())


@pytest.mark.parametrize("name", BACKENDS)
def test_order_is_that_of_the_axes(name: str) -> None:
    x = normal(20, 30)
    strided = x.t().contiguous().t()
    assert torch.equal(drop(strided, Dropped.at(0.3, SEED), backend=name), drop(x, Dropped.at(0.3, SEED)))


@pytest.mark.parametrize("name", BACKENDS)
def test_all_may_be_dropped_or_none(name: str) -> None:
    x = normal(300)
    assert not drop(x, Dropped.at(1.0, SEED), backend=name).any()
    assert torch.equal(drop(x, Dropped.at(1e-9, SEED), backend=name), x)


def test_rates_outside_are_refused() -> None:
    with pytest.raises(UsageError, match=r"dropout must be from 0 to 1, got 1\.5"):
        Dropped.at(1.5, 0)


def test_short_types_are_rounded_once() -> None:
    x = normal(300, dtype=torch.bfloat16)
    y = drop(x, Dropped.at(0.3, SEED))
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, drop(x.float(), Dropped.at(0.3, SEED)).to(torch.bfloat16))


def test_empty_tensor_stays_empty() -> None:
    assert drop(torch.ones(0, 3), Dropped.at(0.3, SEED)).shape == (0, 3)


def test_without_a_compiler_it_is_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHOICE, "_fastest", {})
    monkeypatch.setattr(CHOICE, "obstacle", lambda *_: "no C compiler")
    assert CHOICE.choose("auto", "cpu") == "torch"


def seeded(layer: Dropout, x: Tensor, seed: int = 0) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return layer(x)


def test_layer_does_nothing_in_evaluation_or_at_rate_zero() -> None:
    x = normal(300)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


def test_layer_follows_torchs_generator() -> None:
    layer, x = Dropout(0.5), normal(300)
    assert torch.equal(seeded(layer, x), seeded(layer, x))
    assert not torch.equal(seeded(layer, x), seeded(layer, x, seed=1))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        assert not torch.equal(layer(x), layer(x))


def test_layer_drops_the_same_when_checkpointing_runs_it_again() -> None:
    layer, x = Dropout(0.5), normal(300).requires_grad_()
    y = checkpoint(lambda given: layer(given).square(), x, use_reentrant=False)
    assert isinstance(y, Tensor)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient == 0, y == 0)
