"""Estimators by name: ours, classes of installed packages, users' files and entry points."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from bench.errors import ModelError, UsageError
from bench.estimators import contract, registry
from bench.estimators.fit_estimator import seeded
from bench.models import registry as models

MINE = """
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def scaled(C=0.5):
    return make_pipeline(StandardScaler(), LogisticRegression(C=C))


class Mine(LogisticRegression):
    pass


NOTHING = 3
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_ours_are_known_by_name() -> None:
    assert {"dummy", "linear", "spectral", "minirocket"} <= set(models.estimator_names())
    assert models.revision("minirocket") == 1
    assert registry.build("minirocket", n_features=840).n_features == 840


def test_names_import_nothing_heavy() -> None:
    program = (
        "import sys; from bench.models import registry; registry.estimator_names(); "
        "registry.revision('minirocket'); registry.hyperparameters('minirocket'); "
        "print({'sklearn', 'torch', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_class_of_an_installed_package(package: Path) -> None:
    name = registry.register_own("stub_series.distance:Nearest")
    assert name == "stub_series.Nearest"
    assert models.hyperparameters(name) == {"power": 2.0}
    assert models.revision(name) == "stub-series 1.2"
    told = registry.identity(name, {"power": 1.0})
    assert (told.class_path, told.parameters) == ("stub_series.distance:Nearest", {"power": 1.0})
    assert told.packages == {"stub-series": "1.2"}


@pytest.mark.usefixtures("package")
def test_a_class_with_aeons_interface_is_fed_windows(
    task: tuple[contract.Windows, contract.Labels],
) -> None:
    estimator = seeded(registry.build(registry.register_own("stub_series.distance:Nearest")), 41)
    windows, labels = task
    assert estimator.random_state is not None
    assert (contract.fit(estimator, windows, labels, 4).logits(windows).argmax(axis=1) == labels).mean() > 0.9


def test_an_entry_points_whole_source_is_its_revision(package: Path) -> None:
    before = models.revision("nearest")
    (package / "more.py").write_text("x = 1\n")
    assert models.revision("nearest") != before
    assert registry.build("nearest").power == 2.0


@pytest.mark.usefixtures("package")
def test_a_broken_package_stops_no_other_estimator() -> None:
    assert {"gone", "nearest", "dummy"} <= set(models.estimator_names())
    with pytest.raises(
        ModelError, match=r"estimator 'gone': gone.deep cannot be imported \(No module named 'gone'\)"
    ):
        registry.build("gone")


def test_a_class_of_scikit_learn_and_its_parameters() -> None:
    name = registry.register_own("sklearn.ensemble:HistGradientBoostingClassifier")
    assert name == registry.register_own("sklearn.ensemble:HistGradientBoostingClassifier")
    assert models.revision(name) == f"scikit-learn {sklearn.__version__}"
    assert registry.build(name, max_iter=7).max_iter == 7
    with pytest.raises(UsageError, match=r"unknown parameter of .* 'max_iters'. Did you mean 'max_iter'"):
        registry.build(name, max_iters=7)


def test_a_users_class_and_function(mine: Path) -> None:
    name = registry.register_own(f"{mine}:Mine")
    assert name == "mine.Mine"
    assert isinstance(registry.build(name), LogisticRegression)
    function = registry.register_own(f"{mine}:scaled")
    pipeline = registry.build(function, C=2.0, logisticregression__tol=0.1)
    assert pipeline[-1].get_params()["C"] == 2.0
    assert pipeline[-1].get_params()["tol"] == 0.1
    with pytest.raises(UsageError, match=r"unknown parameter of mine.scaled 'logisticregression__tool'"):
        registry.build(function, logisticregression__tool=0.1)


def test_a_users_source_is_the_revision(mine: Path) -> None:
    name = registry.register_own(f"{mine}:Mine")
    before = models.revision(name)
    mine.write_text(MINE + "\n# changed\n")
    assert models.revision(name) != before


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("sklearn.svm:", UsageError, "expected package.module:Name"),
        ("sklearn..svm:SVC", UsageError, "expected package.module:Name"),
        ("no_such_package.x:SVC", UsageError, "no module no_such_package; install"),
        ("./nowhere.py:Mine", UsageError, "nowhere.py: no such file"),
    ],
)
def test_a_text_that_means_nothing_is_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        registry.register_own(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sklearn.svm:Svc", "sklearn.svm: no class or function Svc"),
        ("sklearn.svmm:SVC", "sklearn.svmm cannot be imported"),
        (
            "sklearn.preprocessing:StandardScaler",
            "StandardScaler has neither predict_proba nor decision_function",
        ),
        (
            "sklearn.ensemble:VotingClassifier",
            "sklearn.VotingClassifier needs a value for 'estimators'; write a func",
        ),
    ],
)
def test_what_makes_no_estimator_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        registry.build(registry.register_own(text))


def test_a_name_that_is_no_class_is_refused(mine: Path) -> None:
    with pytest.raises(ModelError, match="no class or function NOTHING"):
        registry.build(registry.register_own(f"{mine}:NOTHING"))


@pytest.mark.parametrize("key", ["random_state", "logisticregression__random_state", "seed"])
def test_seeds_are_the_cells(mine: Path, key: str) -> None:
    with pytest.raises(UsageError, match=f"{key} is set from the cell's seed"):
        registry.build(registry.register_own(f"{mine}:scaled"), **{key: 3})


def test_two_of_one_name_are_refused(tmp_path: Path, mine: Path) -> None:
    other = tmp_path / "elsewhere" / mine.name
    other.parent.mkdir()
    other.write_text(MINE)
    registry.register_own(f"{mine}:Mine")
    with pytest.raises(ModelError, match=r"model 'mine.Mine' is registered twice"):
        registry.register_own(f"{other}:Mine")


def test_what_makes_logits_is_what_the_registry_builds() -> None:
    windows = np.random.default_rng(0).normal(size=(12, 1, 32)).astype(np.float32)
    for name in ("dummy", "linear", "spectral"):
        model = contract.fit(registry.build(name), windows, np.arange(12) % 2, 2)
        assert model.logits(windows).shape == (12, 2)
