"""``--deterministic``: no algorithm whose sums come in any order. Changes a GPU only, and is untested on one."""

import os


def forbid_any_order(device: str) -> None:
    """Have torch refuse algorithms that are not deterministic, and take a scan whose backward pass is.

    To be called before the process's first CUDA operation.
    """
    import torch

    if device == "cuda":
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        # mamba-ssm's kernels add up gradients atomically.
        os.environ["BENCH_SCAN"] = "torch"
        torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True)
