"""The settings as a user reads them are those that there are."""

from bench.models import registry
from bench.settings.schema import DataSettings, Training
from bench.settings.words import settings_in_words


def test_every_setting_is_there_with_its_meaning() -> None:
    rows = {one.name: one for one in settings_in_words("medmamba")}
    known = {*Training.model_fields, *DataSettings.model_fields, *registry.hyperparameters("medmamba")}
    assert set(rows) == known
    assert all(one.values and one.meaning for one in rows.values())


def test_values_are_words_of_the_command_line() -> None:
    rows = {one.name: one.values for one in settings_in_words("medmamba")}
    assert rows["patience"] == "whole number | none >= 1"
    assert rows["normalisation"] == "window | channel | none"
    assert rows["label_smoothing"] == "number >= 0, < 1"
    assert rows["scan"] == "auto | reference | torch | native | mamba-ssm | hub | triton"


def test_defaults_are_the_published_ones_or_say_what_they_depend_on() -> None:
    ours = {row.name: row.default for row in settings_in_words("medmamba")}
    assert (ours["label_smoothing"], ours["patience"], ours["split"]) == ("0.02", "none", "published")
    everyone = {row.name: row.default for row in settings_in_words()}
    assert everyone["epochs"] == "by model"
    assert everyone["split_seed"] == "41"


def test_what_a_variant_fixes_is_no_setting_of_it() -> None:
    assert "strides" not in {one.name for one in settings_in_words("medmamba-single-scale")}
