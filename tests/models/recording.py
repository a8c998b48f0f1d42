"""What a model does in one pass: where it drops, what it draws. And a fixed input to make it do so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.dropout import Dropped, drop
from bench.dropout.dropped import LEVELS
from bench.models.layers import attention, dropout


def series(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    """Return a normal random tensor, always the same for one shape and seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def dropout_shapes(monkeypatch: pytest.MonkeyPatch, model: nn.Module, x: Tensor) -> list[tuple[int, ...]]:
    """Train on ``x`` once and return the shapes that were dropped from, in order, fused attention left out."""
    shapes: list[tuple[int, ...]] = []

    def record(given: Tensor, dropped: Dropped) -> Tensor:
        shapes.append(tuple(given.shape))
        return drop(given, dropped)

    monkeypatch.setattr(dropout, "drop", record)
    model.train()(x)
    return shapes


def attention_dropout(monkeypatch: pytest.MonkeyPatch, model: nn.Module, x: Tensor) -> list[float]:
    """Run ``model`` in its present mode and return the dropout rate of each call of fused attention, to four digits."""
    rates: list[float] = []
    torchs, ours = F.scaled_dot_product_attention, attention.attention

    def record_torchs(*args: Any, dropout_p: float = 0.0, **kwargs: Any) -> Tensor:
        rates.append(dropout_p)
        return torchs(*args, dropout_p=dropout_p, **kwargs)

    def record_ours(*args: Any, dropped: Dropped, **kwargs: Any) -> Tensor:
        rates.append(round(dropped.threshold / LEVELS, 4))
        return ours(*args, dropped=dropped, **kwargs)

    monkeypatch.setattr(F, "scaled_dot_product_attention", record_torchs)
    monkeypatch.setattr(attention, "attention", record_ours)
    model(x)
    return rates


@dataclass(frozen=True)
class Draw:
    """One call of a random function: what it returned and the generator that it was given."""

    drawn: Tensor
    generator: torch.Generator | None


def record_draws(monkeypatch: pytest.MonkeyPatch, function: str) -> list[Draw]:
    """Record all further calls of ``torch.<function>`` in the list that is returned."""
    calls: list[Draw] = []
    original: Callable[..., Tensor] = getattr(torch, function)

    def record(*args: Any, generator: torch.Generator | None = None, **kwargs: Any) -> Tensor:
        drawn = original(*args, generator=generator, **kwargs)
        calls.append(Draw(drawn, generator))
        return drawn

    monkeypatch.setattr(torch, function, record)
    return calls


def generators_of(model: nn.Module) -> list[torch.Generator]:
    """Return the generators that the model and its inner modules hold, one entry a module."""
    held = [getattr(module, "draws", None) for module in model.modules()]
    return [one for one in held if isinstance(one, torch.Generator)]
