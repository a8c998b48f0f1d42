"""How many CPU threads a process computes with: torch's, and those of every library below numpy and scikit-learn."""


def set_threads(n: int) -> None:
    """Use ``n`` threads from now on."""
    import threadpoolctl
    import torch

    torch.set_num_threads(n)
    threadpoolctl.threadpool_limits(n)
