"""Peak memory of this process, in bytes."""

import resource
import sys


def peak_memory_bytes(device: str) -> int:
    """Return the largest allocation on a GPU, or the largest resident set of this process."""
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
