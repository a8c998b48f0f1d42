"""What one card could do at best, on paper: operations, bytes and kernels of an inference, as markdown.

    python -m benchmarks.gpu_estimate

Nothing is measured. A kernel is one operator of torch that is no view; it reads its inputs and writes its outputs
once, which caches can make less. Attention is one fused kernel, a scan is one. Three times bound a batch from below:
operations over the card's peak in float32 without tensor cores, bytes over its bandwidth, and kernels times the few
microseconds that PyTorch takes to start one. Only ADFTD's shape, batch 256, as in the paper.
"""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from bench import models
from bench.measure.flops import count_flops
from bench.scan import ScanInputs, dispatch
from bench.settings import resolve
from bench.settings.tables import hyperparameter_table, preset

N_TIMES, N_CHANNELS, N_CLASSES, BATCH = 256, 19, 3, 256
START_US = 5.0


class Card(NamedTuple):
    """Peak in float32 without tensor cores, operations/s, and memory bandwidth, bytes/s, by its data sheet."""

    name: str
    operations: float
    bandwidth: float


CARDS = (Card("RTX 3090", 35.6e12, 936e9), Card("H100 SXM", 66.9e12, 3350e9))
# Model, width, and the paper's thousand windows/s on the first card.
ROWS = (
    ("medmamba", "script", "3.2"),
    ("transformer", "script", ""),
    ("transformer", "wide", "1.4-1.6"),
    ("medformer", "script", ""),
    ("medformer", "wide", "0.7"),
    ("itransformer", "wide", ""),
)


class Traffic(TorchDispatchMode):
    """Add up the bytes and the number of kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.n_bytes, self.n_kernels = 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        outputs = [x for x in _tensors(result) if not x._is_view()]
        if outputs and not func.is_view and "empty" not in str(func):
            self.add([*_tensors(args), *outputs])
        return result

    def add(self, tensors: list[Tensor]) -> None:
        """Count one kernel that touches these tensors."""
        self.n_kernels += 1
        self.n_bytes += sum(x.numel() * x.element_size() for x in tensors)


class Fused(TorchFunctionMode):
    """Let attention be one kernel."""

    def __init__(self, traffic: Traffic) -> None:
        super().__init__()
        self.traffic = traffic

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not F.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        q, _, v = args
        out = torch.empty(*q.shape[:-1], v.size(-1), device=q.device)
        self.traffic.add([*args, out])
        return out


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [x for part in value for x in _tensors(part)] if isinstance(value, list | tuple) else []


def traffic_of(model: str, overrides: dict[str, Any]) -> Traffic:
    """Return what an inference of one batch moves and starts, by the shapes alone."""
    traffic = Traffic()

    def scan(inputs: ScanInputs, _: tuple[bool, ...]) -> Tensor:
        y = torch.empty(inputs.delta.shape, device="meta")
        traffic.add([*inputs, y])
        return y

    network = models.build(model, N_CHANNELS, N_TIMES, N_CLASSES, **overrides).to("meta").eval()
    window = torch.empty(BATCH, N_TIMES, N_CHANNELS, device="meta")
    no_autocast = mock.patch.object(torch, "autocast", return_value=nullcontext())  # unknown to meta
    with torch.no_grad(), dispatch.stand_in(scan), no_autocast, traffic, Fused(traffic):
        network(window)
    return traffic


def hyperparameters(model: str, width: str) -> dict[str, Any]:
    """Return a model's published settings of its own task, with those of the paper's figure where ``wide``."""
    paper = preset("paper")
    settings = resolve(model, "adftd", 41, recipe_name=paper.recipe, preset=paper, assignments={})
    published = hyperparameter_table(model)
    wide = published.wide if published is not None and width == "wide" else None
    return settings.hyperparameters | (wide.values() if wide is not None else {})


def table() -> Iterator[str]:
    """Yield the rows."""
    bounds = " | ".join(f"{card.name}: operations, bytes, starts, ms | windows/s at most" for card in CARDS)
    yield f"| model | width | M operations | MB | kernels | {bounds} | the paper's, thousand/s |"
    yield "| --- | --- | ---: | ---: | ---: |" + " ---: | ---: |" * len(CARDS) + " ---: |"
    for model, width, printed in ROWS:
        overrides = hyperparameters(model, width)
        count = count_flops(
            lambda model=model, overrides=overrides: models.build(
                model, N_CHANNELS, N_TIMES, N_CLASSES, **overrides
            ),
            N_TIMES,
            N_CHANNELS,
        ).total
        traffic = traffic_of(model, overrides)
        cells = [
            model,
            width,
            f"{count / 1e6:.0f}",
            f"{traffic.n_bytes / BATCH / 1e6:.1f}",
            f"{traffic.n_kernels}",
        ]
        for card in CARDS:
            times = bounds_ms(card, count, traffic)
            cells += [", ".join(f"{ms:.1f}" for ms in times), f"{1000 * BATCH / max(times):,.0f}"]
        yield f"| {' | '.join([*cells, printed])} |"


def bounds_ms(card: Card, operations: int, traffic: Traffic) -> tuple[float, float, float]:
    """Return the least milliseconds of a batch by operations, by bytes, and by starting kernels."""
    return (
        1e3 * operations * BATCH / card.operations,
        1e3 * traffic.n_bytes / card.bandwidth,
        traffic.n_kernels * START_US / 1e3,
    )


def main() -> int:
    """Print the table."""
    for line in table():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
