"""Copies from the CPU to a model's device that the CPU does not wait for."""

import torch
from torch import Tensor


def copied_to(device: torch.device, tensor: Tensor) -> Tensor:
    """Return a tensor of the CPU on a device; to a GPU by way of page-locked memory.

    An ordinary copy waits until all that was asked of the GPU before is done. Torch keeps the page-locked memory
    until the copy is over. Untested on GPU.
    """
    if device.type == "cpu":
        return tensor.to(device)
    source = tensor.pin_memory() if device.type == "cuda" else tensor
    return source.to(device, non_blocking=True)
