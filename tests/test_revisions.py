"""A result that changes must come with a new revision, since revisions are what a cell's key knows of the code."""

import json

import pytest

from bench.models import registry
from bench.train.revision import REVISION as TRAINER_REVISION
from tests.revisions import KEPT, model_outputs, trainer_outputs

KNOWN = json.loads(KEPT.read_text(encoding="utf-8"))
ADVICE = "run 'python -m tests.revisions' to keep the new one"


# A hundred layers, each normalised over four windows, carry the last digit of a product into the third of a logit.
TOLERANCE = {"xresnet1d101": 5e-2}


@pytest.mark.parametrize("name", registry.names())
def test_a_model_computes_what_its_revision_computed(name: str) -> None:
    assert KNOWN[name]["revision"] == registry.revision(name), ADVICE
    kept = pytest.approx(KNOWN[name]["outputs"], rel=TOLERANCE.get(name, 1e-4), abs=1e-5)
    assert model_outputs(name) == kept, "bump REVISION"


def test_the_trainer_computes_what_its_revision_computed() -> None:
    assert KNOWN["trainer"]["revision"] == TRAINER_REVISION, ADVICE
    assert trainer_outputs() == pytest.approx(KNOWN["trainer"]["outputs"], rel=1e-4, abs=1e-6), (
        "bump REVISION"
    )


def test_nothing_is_kept_of_models_that_are_gone() -> None:
    ours = [name for name in registry.names() if not registry.entry(name).is_own]
    assert set(KNOWN) == {*ours, "trainer"}
