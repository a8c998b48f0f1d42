"""The matrix products of a call, and the time that they take alone: what no other part of the code can get below."""

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
PRODUCTS = (
    aten.mm.default,
    aten.addmm.default,
    aten.bmm.default,
    aten.baddbmm.default,
    aten.convolution.default,
    aten.convolution_backward.default,
)


class Layout(NamedTuple):
    """Shape and strides of a tensor."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def draw(self) -> Tensor:
        """Return random numbers laid out like this."""
        size = 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        return torch.randn(size).as_strided(self.shape, self.strides)


class Product(NamedTuple):
    """One operation of `PRODUCTS` with the layouts of its tensors and its other arguments, as they were given."""

    operation: Any
    arguments: tuple[Any, ...]
    settings: tuple[tuple[str, Any], ...]

    def seconds(self, rounds: int) -> float:
        """Return the median CPU time of the operation on random numbers."""
        arguments = [value.draw() if isinstance(value, Layout) else value for value in self.arguments]
        taken = []
        for _ in range(rounds + 1):
            start = time.process_time()
            self.operation(*arguments, **dict(self.settings))
            taken.append(time.process_time() - start)
        return statistics.median(taken[1:])


def products_of(run: Callable[[], object]) -> Counter[Product]:
    """Return the products of a call, attention as two products and without dropout."""
    with sdpa_kernel(SDPBackend.MATH), _Recording() as recording:
        run()
    return recording.found


def floor_seconds(found: Counter[Product], rounds: int) -> float:
    """Return the CPU time of all products, each measured alone."""
    return sum(count * product.seconds(rounds) for product, count in found.items())


class _Recording(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[Product] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in PRODUCTS:
            self.found[Product(func, tuple(_hashable(args)), tuple(sorted(kwargs.items())))] += 1
            return func(*args, **kwargs)
        with self:  # in inference mode layers arrive whole
            parts = func.decompose(*args, **kwargs)
        return func(*args, **kwargs) if parts is NotImplemented else parts


def _hashable(arguments: Iterable[Any]) -> Iterable[Any]:
    for value in arguments:
        if isinstance(value, Tensor):
            yield Layout(tuple(value.shape), value.stride())
        else:
            yield tuple(value) if isinstance(value, list) else value
