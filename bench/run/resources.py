"""What a run may use of the machine, and which GPU each of its workers gets."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.estimators.keep_fitted import Writer
from bench.plan.shard import Shard


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use, what it keeps, and how it treats failures.

    ``memory_bytes`` is per cell, on a CPU; ``keep_fitted`` has the fitted state of estimators written.
    """

    device: str = "auto"
    jobs: int = 1
    threads: int = 1
    memory_bytes: int | None = None
    deterministic: bool = False
    cell_timeout: float | None = None
    shard: Shard | None = None
    backend: Literal["local", "ray"] = "local"
    address: str | None = None
    skip_missing: bool = False
    allow_skipped: bool = False
    retry_failed: bool = False
    fail_fast: bool = False
    keep_fitted: Writer | None = None


def visible_gpus(device: str) -> tuple[str, ...]:
    """Return the names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES spells them; none on a CPU."""
    if device != "cuda":
        return ()
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(name.strip() for name in given.split(",") if name.strip())
    import torch

    return tuple(map(str, range(torch.cuda.device_count())))


def least_used(gpus: Sequence[str], in_use: Iterable[str | None]) -> str | None:
    """Return the GPU with the fewest workers, the first of equals; None if there is no GPU.

    Each worker sees one GPU, by CUDA_VISIBLE_DEVICES, so that a cell cannot take another's memory.
    """
    used = list(in_use)
    return min(gpus, key=used.count, default=None)
