"""What the simulators are for: a cohort whose classes a model can learn, better than a linear one does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench import datasets, models
from bench.train.evaluate import predict
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.scores import macro_f1
from bench.train.seeding import seed_default_generators
from tests.train.cohort import training


@pytest.mark.usefixtures("shared_cache")
def test_medmamba_beats_a_linear_model_across_subjects(simulated: Callable[[str], Path]) -> None:
    root = simulated("uci-har")
    split = datasets.make_split("uci-har", datasets.prepare("uci-har", root).subjects)
    dataset = datasets.load("uci-har", root, split=split)
    train, validation, test = (
        Part(dataset.windows, dataset.labels, dataset.subject, dataset.indices(subjects))
        for subjects in (split.train, split.validation, split.test)
    )
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    linear.fit(dataset.windows[train.rows].reshape(len(train), -1), train.part_labels)
    answers = linear.predict(dataset.windows[test.rows].reshape(len(test), -1))
    linear_f1 = f1_score(test.part_labels, answers, average="macro")

    seed_default_generators(41)
    model = models.build("medmamba", 9, 128, 6, d_model=32, n_layers=1)
    fit = Fit(model, train, validation, training(epochs=8, batch_size=32), seed=41)
    while not fit.finished:
        fit.run_epoch()
    model.load_state_dict(fit.best_weights)
    medmamba_f1 = macro_f1(predict(model, test, 32, seed=41), test.part_labels)

    chance = 1 / len(np.unique(dataset.labels))
    assert chance + 0.1 < linear_f1 < medmamba_f1 < 1.0
