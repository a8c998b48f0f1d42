"""Trainable parameters: all of them, and those that take part in the forward pass."""

import torch
from torch import nn

from bench.results.record import Parameters


def count_parameters(model: nn.Module, n_times: int, n_channels: int) -> Parameters:
    """Count trainable parameters; those that the logits of one window depend on are the ones in the forward pass.

    The model is left as it was, but for the state of generators it draws from.
    """
    trainable = [p for p in model.parameters() if p.requires_grad]
    was_training = model.training
    model.eval()
    window = torch.zeros(1, n_times, n_channels, device=trainable[0].device, dtype=trainable[0].dtype)
    gradients = torch.autograd.grad(model(window).sum(), trainable, allow_unused=True)
    model.train(was_training)
    used = sum(p.numel() for p, gradient in zip(trainable, gradients, strict=True) if gradient is not None)
    return Parameters(forward=used, total=sum(p.numel() for p in trainable))
