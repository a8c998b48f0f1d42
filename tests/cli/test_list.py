"""``bench list``, ``bench doctor``: what there is, as text and as JSON."""

import json

from bench import datasets
from bench.models import registry
from tests.cli.conftest import Bench


def test_models_with_parameters_of_a_dataset(bench: Bench) -> None:
    done = bench("list", "models", "--dataset", "adftd", "--json")
    assert done.code == 0, done.err
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert set(rows) == {*registry.names(), *registry.estimator_names()}
    assert rows["medmamba"]["parameters"] == 5_719_881
    assert rows["medformer"]["parameters"] == 8_123_139
    assert rows["crossformer"]["parameters"] == 2_221_443
    assert "miraclehetech/MedMamba" in rows["medmamba"]["source"]


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
