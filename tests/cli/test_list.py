"""``bench list``, ``bench doctor``: what there is, as text and as JSON."""

import json
import warnings

import pytest

from bench import datasets
from bench.errors import ModelError
from bench.models import registry
from bench.results.record import Parameters
from tests.cli.conftest import Bench


def test_models_with_parameters_of_a_dataset(bench: Bench) -> None:
    done = bench("list", "models", "--dataset", "adftd", "--json")
    assert done.code == 0, done.err
    rows = {row["name"]: row for row in json.loads(done.out)}
    others = {*registry.estimator_names(), *registry.braindecode_names()}
    assert set(rows) == {*registry.names(), *others}
    assert {row["fits"] for name, row in rows.items() if name not in others} == {"yes"}
    assert rows["dummy"]["fits"] == "-"
    assert rows["medmamba"]["parameters"] == 5_719_881
    assert rows["medformer"]["parameters"] == 8_123_139
    assert rows["crossformer"]["parameters"] == 2_221_443
    assert "miraclehetech/MedMamba" in rows["medmamba"]["source"]


@pytest.mark.parametrize(
    ("problem", "said"),
    [(None, "yes, but layers are shrunk"), (ModelError("does not fit"), "no: does not fit")],
)
def test_models_say_whether_they_fit(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, problem: ModelError | None, said: str
) -> None:
    def counted(*_: str) -> Parameters:
        if problem is not None:
            raise problem
        warnings.warn("layers are shrunk", stacklevel=2)
        return Parameters(forward=3, total=4)

    monkeypatch.setattr("bench.measure.parameters.parameters_for", counted)
    rows = json.loads(bench("list", "models", "--dataset", "adftd", "--json").out)
    assert {row["fits"] for row in rows if row["kind"] == "network"} == {said}


def test_every_dataset_has_a_card(bench: Bench) -> None:
    cards = {card["name"]: card for card in json.loads(bench("list", "datasets", "--json").out)}
    assert set(cards) == set(datasets.names())
    for card in cards.values():
        for part in ("licence", "citation", "task", "homepage", "split_rule", "known_problems"):
            assert card[part], f"{card['name']} has no {part}"


def test_recipes_and_presets(bench: Bench) -> None:
    assert "published" in bench("list", "recipes").out
    assert "demo" in bench("list", "presets").out


def test_settings_are_listed_with_a_models_own(bench: Bench) -> None:
    out = bench("list", "settings", "--model", "patchtst").out
    assert "warmup_epochs" in out
    assert "patch_len" in out


def test_doctor_says_what_is_found_and_missing(bench: Bench, data) -> None:
    done = bench("doctor", "--data", data)
    assert done.code == 0, done.err
    assert "scan backend:" in done.out
    assert "uci-har: found, not prepared yet" in done.out
    assert "bench data fetch ptb-xl" in done.out
