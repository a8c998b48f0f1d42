"""Trainable parameters: all of them, and those that take part in the forward pass."""

import torch
from torch import nn

from bench import datasets, models
from bench.results.record import Parameters
from bench.settings import preset, resolve


def parameters_for(model: str, dataset: str) -> Parameters:
    """Count the parameters of the model that ``bench run --preset paper`` would train on a dataset.

    Raises
    ------
    UsageError
        A name is unknown.
    """
    facts = datasets.facts(dataset)
    settings = resolve(model, dataset, 41, recipe_name="published", preset=preset("paper"), assignments={})
    built = models.build(model, facts.n_channels, facts.n_times, facts.n_classes, **settings.hyperparameters)
    return count_parameters(built, facts.n_times, facts.n_channels)


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
