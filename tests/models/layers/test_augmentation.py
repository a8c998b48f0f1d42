"""What each of Medformer's augmentations does, and how entries are read and picked."""

import copy

import pytest
import torch
from torch import Tensor

from bench.errors import UsageError
from bench.models.layers import augmentation
from bench.models.layers.augmentation import AUGMENTATIONS, RandomAugmentation, parse

ALL = tuple(AUGMENTATIONS)


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def series(rows: int = 20, columns: int = 30) -> Tensor:
    return torch.randn(4, rows, columns, generator=draws(7)) + 5  # nothing is zero by itself


def test_none_is_the_identity() -> None:
    x = series()
    assert parse("none", ALL)(x, draws()) is x


@pytest.mark.parametrize(("entry", "rate"), [("drop", 0.1), ("drop0.5", 0.5)])
def test_drop_zeroes_elements_and_rescales(entry: str, rate: float) -> None:
    x = series(100, 100)
    dropped = parse(entry, ALL)(x, draws())
    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=0.02)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], x[kept] / (1 - rate))


@pytest.mark.parametrize(("entry", "sd"), [("jitter", 0.1), ("jitter0.2", 0.2)])
def test_jitter_adds_normal_noise_to_each_element(entry: str, sd: float) -> None:
    x = series(100, 100)
    noise = parse(entry, ALL)(x, draws()) - x
    assert noise.std().item() == pytest.approx(sd, rel=0.03)
    assert noise.mean().item() == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("entry", "sd"), [("scale", 0.1), ("scale0.2", 0.2)])
def test_scale_multiplies_each_row_of_each_window(entry: str, sd: float) -> None:
    x = series(500, 3)
    factor = parse(entry, ALL)(x, draws()) / x
    torch.testing.assert_close(factor, factor[..., :1].expand_as(factor))
    assert factor[..., 0].std().item() == pytest.approx(sd, rel=0.1)
    assert factor[..., 0].mean().item() == pytest.approx(1, abs=0.02)


def rate_of_change(entry: str, n: int = 400) -> float:
    x, generator, augment = series(2, 3), draws(), parse(entry, ALL)
    return sum(not torch.equal(augment(x, generator), x) for _ in range(n)) / n


@pytest.mark.parametrize(("entry", "rate"), [("flip", 0.5), ("flip0.2", 0.2), ("flip0", 0), ("flip1", 1)])
def test_flip_happens_at_its_rate(entry: str, rate: float) -> None:
    assert rate_of_change(entry) == pytest.approx(rate, abs=0.07)


def test_flip_reverses_the_columns_of_the_whole_batch() -> None:
    x = series()
    assert torch.equal(parse("flip1", ALL)(x, draws()), x.flip(-1))


def test_shuffle_permutes_the_rows_of_the_whole_batch_alike() -> None:
    x = torch.arange(12.0).view(1, 12, 1).expand(3, 12, 2)
    shuffled = parse("shuffle1", ALL)(x, draws())
    order = shuffled[0, :, 0]
    assert not torch.equal(order, x[0, :, 0])
    assert torch.equal(order.sort().values, x[0, :, 0])
    assert torch.equal(shuffled, order.view(1, 12, 1).expand_as(x))


def test_shuffle_may_leave_the_rows() -> None:
    assert rate_of_change("shuffle0") == 0


@pytest.mark.parametrize("columns", [30, 31])
def test_frequency_zeroes_bins_of_each_row(columns: int) -> None:
    x = series(200, columns)
    changed = torch.fft.rfft(parse("frequency0.3", ALL)(x, draws()))
    zeroed = changed.abs() < 1e-4
    assert zeroed.float().mean().item() == pytest.approx(0.3, abs=0.02)
    torch.testing.assert_close(changed[~zeroed], torch.fft.rfft(x)[~zeroed], atol=1e-3, rtol=1e-4)
    assert not torch.equal(zeroed[0, 0], zeroed[0, 1])
    assert not torch.equal(zeroed[0, 0], zeroed[1, 0])


@pytest.mark.parametrize(("entry", "n"), [("mask", 3), ("mask0.25", 7)])
def test_mask_zeroes_the_same_columns_everywhere(entry: str, n: int) -> None:
    x = series(columns=30)
    masked = parse(entry, ALL)(x, draws())
    columns = (masked == 0).all(dim=(0, 1))
    assert columns.sum().item() == n  # rounded down
    assert torch.equal(masked[..., ~columns], x[..., ~columns])


@pytest.mark.parametrize(("entry", "n"), [("channel", 2), ("channel0.33", 6)])
def test_channel_zeroes_the_same_rows_everywhere(entry: str, n: int) -> None:
    x = series(rows=20)
    masked = parse(entry, ALL)(x, draws())
    rows = (masked == 0).all(dim=(0, 2))
    assert rows.sum().item() == n
    assert torch.equal(masked[:, ~rows], x[:, ~rows])


@pytest.mark.parametrize("name", [name for name in ALL if name != "drop"])
def test_draws_come_from_the_generator_only(name: str) -> None:
    before = torch.get_rng_state()
    x = series()
    first, second = (parse(f"{name}", ALL)(x, draws(5)) for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", [name for name in ALL if name != "none"])
def test_input_is_kept(name: str) -> None:
    x = series()
    kept = x.clone()
    parse(f"{name}1", ALL)(x, draws())
    assert torch.equal(x, kept)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_precision_is_kept(name: str, dtype: torch.dtype) -> None:
    assert parse(name, ALL)(series().to(dtype), draws()).dtype == dtype


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown augmentation 'jiter'\. Did you mean 'jitter'"):
        parse("jiter0.2", ALL)


@pytest.mark.parametrize("entry", ["drop-1", "0.5", "", "drop0.5x"])
def test_malformed_entry_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match="unknown augmentation"):
        parse(entry, ALL)


@pytest.mark.parametrize("entry", ["drop1.5", "flip2", "none0.1"])
def test_impossible_strength_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match=f"augmentation '{entry}'.*at most"):
        parse(entry, ALL)


def test_no_entry_is_refused() -> None:
    with pytest.raises(UsageError, match="augmentations is empty"):
        RandomAugmentation((), ALL, draws())


def test_entries_are_picked_uniformly(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"flip": 0, "scale": 0, "jitter": 0}

    def count(name: str) -> None:
        def counted(x: Tensor, _strength: float, _draws: torch.Generator) -> Tensor:
            counts[name] += 1
            return x

        monkeypatch.setitem(augmentation.AUGMENTATIONS, name, (counted, 0.1, 1.0))

    for name in counts:
        count(name)
    augment = RandomAugmentation(tuple(counts), ALL, draws()).train()
    for _ in range(900):
        augment(torch.zeros(1, 2, 3))
    assert all(250 < n < 350 for n in counts.values())


def test_evaluation_is_the_identity_and_draws_nothing() -> None:
    generator = draws()
    state = generator.get_state()
    x = series()
    assert RandomAugmentation(("jitter",), ALL, generator).eval()(x) is x
    assert torch.equal(generator.get_state(), state)


def test_copy_draws_from_its_own_generator() -> None:
    augment = RandomAugmentation(("jitter",), ALL, draws()).train()
    copied = copy.deepcopy(augment)
    assert torch.equal(augment(series()), copied(series()))
    assert copied.draws is not augment.draws
