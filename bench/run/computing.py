"""The computing mode of a process: number of threads, and deterministic algorithms if asked for."""

import os


def set_threads(n: int) -> None:
    """Use ``n`` CPU threads from now on: torch, and every library below numpy and scikit-learn."""
    import threadpoolctl
    import torch

    torch.set_num_threads(n)
    threadpoolctl.threadpool_limits(n)


def forbid_any_order(device: str) -> None:
    """Make torch refuse non-deterministic algorithms, and choose a scan with a deterministic backward pass.

    Must be called before the process's first CUDA operation. Affects GPUs only, and is untested on one.
    """
    import torch

    if device == "cuda":
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        # mamba-ssm's kernels add up gradients atomically.
        os.environ["BENCH_SCAN"] = "torch"
        torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True)
