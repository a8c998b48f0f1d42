"""What every revision computes, kept so that a change of results without a new revision is seen.

After a change that is meant to alter results: bump the REVISION of what changed and run
``python -m tests.revisions`` from the project's root.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bench import models
from bench.models import registry
from bench.settings import Training
from bench.train.evaluate import predict
from bench.train.fit import Fit
from bench.train.revision import REVISION as TRAINER_REVISION
from bench.train.scores import score
from bench.train.seeding import seed_default_generators, seed_draws
from tests.train.cohort import make_model, make_part, training

KEPT = Path(__file__).parent / "golden" / "revisions.json"
SMALL = {"d_model": 16, "d_ff": 16, "n_layers": 2}


def model_outputs(name: str) -> list[float]:
    """Logits of a small, freshly initialised model in evaluation and in training mode."""
    seed_default_generators(41)
    known = registry.hyperparameters(name)
    model = models.build(name, 3, 64, 3, **{key: value for key, value in SMALL.items() if key in known})
    windows = torch.from_numpy(np.random.default_rng(41).normal(size=(4, 64, 3)).astype(np.float32))
    outputs = []
    for mode in (False, True):
        seed_draws(model, 41, "revision")
        with torch.no_grad():
            outputs += model.train(mode)(windows).flatten().tolist()
    return outputs


def trainer_outputs() -> list[float]:
    """Losses, rates and scores of two short trainings that use every rule of a recipe between them."""
    averaging = training(weight_averaging=True, epochs=3)
    stopping = training(
        optimizer="adam",
        schedule="constant",
        warmup_epochs=0,
        micro_batch_size=3,
        clip_norm=0.5,
        epochs=6,
        patience=2,
        min_improvement=1e-3,
    )
    return _trained(make_model(), averaging) + _trained(make_model("informer"), stopping)


def _trained(model: nn.Module, recipe: Training) -> list[float]:
    validation = make_part("de", 1)
    fit = Fit(model, make_part("abc", 0).draw(21, np.random.default_rng(41)), validation, recipe, seed=41)
    while not fit.finished:
        fit.run_epoch()
    model.load_state_dict(fit.best_weights)
    logits = predict(model, validation, recipe.batch_size, fit.seed)
    scores = score(logits, validation.part_labels, validation.part_subjects, ("a", "b"))
    return [
        *(value for one in fit.history for value in (one.train_loss, one.val_loss, one.learning_rate)),
        *(value for value in scores.model_dump().values() if isinstance(value, float)),
    ]


def current() -> dict[str, dict[str, Any]]:
    """Revision and outputs of every model and of the trainer, as the code is now."""
    found = {
        name: {"revision": registry.revision(name), "outputs": model_outputs(name)}
        for name in registry.names()
    }
    found["trainer"] = {"revision": TRAINER_REVISION, "outputs": trainer_outputs()}
    return found


if __name__ == "__main__":
    KEPT.write_text(json.dumps(current(), indent=1) + "\n", encoding="utf-8")
