"""The features of a network: the vectors before its classifier, of the windows of a part."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bench.errors import ModelError
from bench.train.part import Part
from bench.train.seeding import seed_draws

BATCH = 256


@torch.inference_mode()
def features_of(model: nn.Module, part: Part, seed: int) -> NDArray[np.float32]:
    """Return the vectors before the classifier ``(n, n_features)`` in evaluation mode.

    Raises
    ------
    ModelError
        The model has no method ``features``.
    """
    features = getattr(model, "features", None)
    if features is None:
        raise ModelError(
            f"{type(model).__name__}: has no method features, which gives the vector before the classifier; add one, "
            "or choose another model"
        )
    model.eval()
    seed_draws(model, seed, "evaluation")
    found = [features(windows).flatten(1).numpy() for windows, _ in part.batches(np.arange(len(part)), BATCH)]
    return np.concatenate(found)
