"""TF32, the rounding of float32 products on some GPUs: switched off for training and timing alike, and recorded."""


def forbid_tf32() -> None:
    """Compute float32 products of this process in full, convolutions included, which torch rounds by default."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def allows_tf32(device: str) -> bool:
    """Whether float32 products of this process are rounded to TF32; never on a CPU, which is told without torch."""
    if device == "cpu":
        return False
    import torch

    return bool(torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32)
