"""What a key is told of an estimator: JSON's types, nothing of seeds, and the packages behind it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bench import plugins
from bench.errors import ModelError
from bench.estimators.identity import identify, package_of
from bench.estimators.minirocket import MiniRocket
from bench.plan.cell import canonical_json


def told(**parameters: Any) -> dict[str, Any]:
    """What is told of a function transformer's free-form parameter."""
    return identify(FunctionTransformer(kw_args=parameters)).parameters


def test_parameters_without_seeds_and_threads() -> None:
    identity = identify(LogisticRegression(C=0.5, random_state=3, n_jobs=2, verbose=1))
    assert identity.class_path == "sklearn.linear_model._logistic:LogisticRegression"
    assert identity.parameters["C"] == 0.5
    assert not {"random_state", "n_jobs", "verbose"} & set(identity.parameters)
    assert identity.packages == {"scikit-learn": sklearn.__version__}


def test_estimators_inside_are_told_with_their_own_parameters() -> None:
    inner = LogisticRegression(C=4.0, random_state=1)
    identity = identify(VotingClassifier([("first", make_pipeline(SelectKBest(f_classif, k=2), inner))]))
    ((name, pipeline),) = identity.parameters["estimators"]
    (_, select), (_, regression) = pipeline["parameters"]["steps"]
    assert (name, pipeline["class"]) == ("first", "sklearn.pipeline:Pipeline")
    assert select["parameters"] == {
        "k": 2,
        "score_func": "sklearn.feature_selection._univariate_selection:f_classif",
    }
    assert regression["parameters"]["C"] == 4.0
    assert "random_state" not in regression["parameters"]


def test_everything_told_is_canonical_json() -> None:
    identity = identify(
        FunctionTransformer(
            np.log1p,
            kw_args={
                "a": np.float32(0.5),
                "b": np.arange(3),
                "c": (1, None, True),
                "d": float("inf"),
                "e": Path("x"),
                "f": {1: [2]},
            },
        )
    )
    assert json.loads(canonical_json(identity.parameters))["kw_args"] == [
        ["a", 0.5],
        ["b", [0, 1, 2]],
        ["c", [1, None, True]],
        ["d", "inf"],
        ["e", "x"],
        ["f", [[1, [2]]]],
    ]


@pytest.mark.parametrize(
    ("value", "name"),
    [(lambda x: x, "lambda"), (object(), "object"), (partial(max, 1), "partial"), ({1, 2}, r"\{1, 2\}")],
)
def test_what_cannot_be_told_is_refused(value: Any, name: str) -> None:
    with pytest.raises(
        ModelError, match=rf"parameter kw_args\['value'\] is .*{name}.*cannot be written into"
    ):
        told(value=value)


def test_a_change_of_any_parameter_is_another_identity() -> None:
    plain = identify(MiniRocket())
    assert plain == identify(MiniRocket(random_state=9))
    assert plain != identify(MiniRocket(max_dilations=8))


def test_a_users_file_is_told_by_its_stem(tmp_path: Path) -> None:
    source = "from sklearn.dummy import DummyClassifier\n\nclass Mine(DummyClassifier):\n    pass\n"
    paths = []
    for folder in ("here", "there"):
        path = tmp_path / folder / "my_model.py"
        path.parent.mkdir()
        path.write_text(source)
        paths.append(identify(plugins.load(path).Mine()).class_path)
    assert paths == ["my_model:Mine"] * 2


def test_packages_are_those_that_provide_the_module() -> None:
    assert package_of("sklearn.ensemble") == ("scikit-learn", sklearn.__version__)
    assert package_of("no_such_module_anywhere") is None
