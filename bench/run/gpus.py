"""Which GPU a worker gets: one each, by CUDA_VISIBLE_DEVICES, so that a cell cannot take another's memory."""

import os
from collections.abc import Iterable, Sequence


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
    """Return the GPU with the fewest workers, the first of equals; None where there is no GPU."""
    used = list(in_use)
    return min(gpus, key=used.count, default=None)
