"""The estimators that come with the package: names and sources. Free of scikit-learn."""

from dataclasses import dataclass

from bench.models.catalogue import Group, ModelEntry

MINIROCKET_REPOSITORY = "angus924/minirocket"
MINIROCKET_COMMIT = "d11d061"


@dataclass(frozen=True, kw_only=True)
class EstimatorEntry(ModelEntry):
    """What the registry knows of an estimator without importing it: the entry of a network, and its provider.

    ``provider`` is name and version of the installed package whose class a user has named. ``settings`` is empty: no
    file of published hyperparameters belongs to an estimator.
    """

    settings: str = ""
    family: str = "classical"
    repository: str = "-"
    commit: str = "-"
    group: Group = "classical"
    provider: str = ""


def _classical(name: str, class_name: str, paper: str, **more: str) -> EstimatorEntry:
    module = f"bench.estimators.{name.replace('-', '_')}"
    return EstimatorEntry(name=name, module=module, class_name=class_name, paper=paper, **more)  # pyright: ignore[reportArgumentType]


ENTRIES = [
    _classical("dummy", "Dummy", "-", notes="class proportions of the training windows"),
    _classical("linear", "Linear", "-", notes="logistic regression on standardised flattened windows"),
    _classical(
        "spectral", "Spectral", "-", notes="logistic regression on level, variance and power in octaves"
    ),
    _classical(
        "minirocket",
        "MiniRocket",
        "Dempster et al., MiniRocket, KDD 2021",
        notes="9,996 features, ridge regression",
        repository=MINIROCKET_REPOSITORY,
        commit=MINIROCKET_COMMIT,
    ),
]
