"""Logits of a model on one part of the data, in the part's order."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bench.train.part import Part
from bench.train.seeding import seed_draws

MAX_BATCH = 256


@torch.inference_mode()
def predict(model: nn.Module, part: Part, batch_size: int, seed: int) -> NDArray[np.float32]:
    """Return logits ``(n, n_classes)`` in evaluation mode.

    Models that draw random numbers in evaluation are reseeded first, so that equal weights give equal logits; how
    many windows share their draws follows from the recipe alone.
    """
    model.eval()
    device = next(model.parameters()).device
    seed_draws(model, seed, "evaluation")
    order = np.arange(len(part))
    batches = part.batches(order, min(batch_size, MAX_BATCH))
    return np.concatenate([model(windows.to(device)).float().cpu().numpy() for windows, _ in batches])
