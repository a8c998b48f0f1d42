"""What a GPU would be asked to do, seen without one: fused attention, and no waiting inside a forward pass.

Models run on torch's device ``meta``, which has shapes and no numbers: whatever needs a number fails there.
Untested on GPU.
"""

from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from bench import models
from bench.models import registry

# Those without softmax attention of all queries to all keys, and what they have instead.
WITHOUT_ATTENTION = {
    "autoformer": "correlations by FFT",
    "fedformer": "a spectrum",
    "reformer": "attention within buckets, by reformer-pytorch",
    **dict.fromkeys((name for name in models.names() if name.startswith("medmamba")), "a scan"),
    **dict.fromkeys(
        (name for name in models.names() if models.entry(name).group == "beyond"), "no attention"
    ),
}
# What torch's memory-efficient kernel, the fused one for float32 with dropout, wants of head widths.
ALIGNMENT = 4
# Reads numbers on the CPU, or makes a shape from them.
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique", "repeat_interleave.Tensor")


class Attended(TorchFunctionMode):
    """Note every call of fused attention, and give back an empty result of its shape."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[tuple[Tensor, ...], dict[str, Any]]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not F.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        self.calls.append((args, kwargs or {}))
        q, k, v = args
        return (q.sum() + k.sum() + v.sum()).expand(*q.shape[:-1], v.size(-1))


class Dispatched(TorchDispatchMode):
    """Note operators that make the CPU wait for a device, and softmax of four axes."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []
        self.matrices = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(func)
        on_meta = any(isinstance(x, Tensor) and x.is_meta for x in args)
        if on_meta and any(word in name for word in WAITS):
            self.waits.append(name)
        copied = name == "aten._to_copy.default" and result.is_meta and not args[0].is_meta
        if copied and not (kwargs or {}).get("non_blocking"):
            self.waits.append(f"{name} of {tuple(result.shape)}")
        if name == "aten._softmax.default" and args[0].ndim == 4:
            self.matrices += 1
        return result


@pytest.fixture(autouse=True)
def meta_for_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the scan that runs everywhere; ``meta`` knows no autocast."""
    monkeypatch.setenv("BENCH_SCAN", "torch")
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())


@pytest.mark.parametrize("name", models.names())
def test_attention_is_fused_on_a_gpu(name: str) -> None:
    model, windows = models.build(name, 19, 256, 3).to("meta").train(), torch.empty(4, 256, 19, device="meta")
    with Attended() as attended, Dispatched() as dispatched:
        model(windows)
    if name in WITHOUT_ATTENTION:
        assert not attended.calls
        return
    assert attended.calls
    assert dispatched.matrices == 0
    for tensors, settings in attended.calls:
        assert set(settings) <= {"dropout_p", "scale"}  # a mask or a causal order takes other kernels
        assert all(x.ndim == 4 and x.stride(-1) == 1 and x.size(-1) % ALIGNMENT == 0 for x in tensors)
        assert len({x.dtype for x in tensors}) == 1
        assert len({x.size(-1) for x in tensors}) == 1


@pytest.mark.parametrize("name", models.names())
def test_a_training_step_waits_for_nothing(name: str) -> None:
    small = {"d_model": 32} if "d_model" in registry.hyperparameters(name) else {}
    model = models.build(name, 19, 256, 3, **small).to("meta").train()
    windows = torch.empty(4, 256, 19, device="meta")
    labels = torch.zeros(4, dtype=torch.long, device="meta")
    with Dispatched() as dispatched:
        for _ in range(6 if name.startswith("medformer") else 1):  # augmentations are drawn anew
            F.cross_entropy(model(windows), labels).backward()
    assert dispatched.waits == []
