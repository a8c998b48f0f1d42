"""Why splits are by subject: on one simulated cohort, a split by window makes the same model look far better."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bench import datasets
from bench.datasets.contract import Dataset
from bench.datasets.simulate import ptb_xl as simulator


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    root = tmp_path_factory.mktemp("cohort")
    (root / "ptb-xl").mkdir()
    simulator.simulate(root / "ptb-xl", n_subjects=100, seconds=10.0, seed=41)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(root / "cache"))
        return datasets.load("ptb-xl", root)


def by_subject(cohort: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # The rule of PTB-XL: per class in patient order, 60 percent and the last 20.
    order = np.unique(cohort.subject.astype(int))
    label = np.array([cohort.labels[cohort.subject == str(one)][0] for one in order])
    train, test = [], []
    for one in np.unique(label):
        members = order[label == one].astype(str)
        train += list(members[: len(members) * 6 // 10])
        test += list(members[len(members) * 8 // 10 :])
    return cohort.indices(tuple(train)), cohort.indices(tuple(test))


def by_window(cohort: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    shuffled = np.random.default_rng(41).permutation(len(cohort.labels))
    n = len(shuffled)
    return shuffled[: n * 6 // 10], shuffled[n * 8 // 10 :]


def f1_of_a_linear_model(cohort: Dataset, train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
    """Return the macro F1 of logistic regression on simple statistics of each lead."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    windows = cohort.windows
    steepness = np.abs(np.diff(windows, axis=1)).mean(axis=1)
    quantiles = np.quantile(windows, [0.0, 0.1, 0.25, 0.75, 0.9, 1.0], axis=1)
    features = np.concatenate([steepness, *quantiles], axis=1)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(features[train], cohort.labels[train])
    return float(f1_score(cohort.labels[test], model.predict(features[test]), average="macro"))


def test_simulated_classes_can_be_learned_but_not_perfectly(cohort: Dataset) -> None:
    score = f1_of_a_linear_model(cohort, *by_subject(cohort))
    assert 0.35 < score < 0.9


def test_split_by_window_inflates_the_score(cohort: Dataset) -> None:
    honest = f1_of_a_linear_model(cohort, *by_subject(cohort))
    inflated = f1_of_a_linear_model(cohort, *by_window(cohort))
    assert inflated > honest + 0.1
