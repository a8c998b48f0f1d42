"""The hyperparameter files of the models: complete, valid for the constructors, and with a source for every value."""

from typing import Any

import pytest
import torch
from torch import nn

import bench.models
from bench.models.promises import DATASET_SHAPES
from bench.models.registry import hyperparameters
from bench.settings.resolve import EXECUTION
from bench.settings.schema import Hyperparameters
from bench.settings.tables import hyperparameter_table

BEYOND = {name for name in bench.models.names() if bench.models.entry(name).group == "beyond"}
COMPARED = sorted(set(bench.models.names()) - BEYOND)


def table_of(name: str) -> Hyperparameters:
    table = hyperparameter_table(bench.models.entry(name).settings)
    assert table is not None, f"no settings file for {name}"
    return table


def sections(table: Hyperparameters) -> dict[str, tuple[str, dict[str, Any]]]:
    found = {"default": (table.source, table.default)}
    if table.wide is not None:
        found["wide"] = (table.wide.source, table.wide.values())
    found.update({name: (one.source, one.values()) for name, one in table.dataset.items()})
    return found


@pytest.mark.parametrize("name", bench.models.names())
def test_keys_are_hyperparameters_of_the_model(name: str) -> None:
    known = set(hyperparameters(name))
    for section, (_, values) in sections(table_of(name)).items():
        assert set(values) <= known, section


@pytest.mark.parametrize("name", bench.models.names())
def test_only_models_of_the_efficiency_figure_have_wide_settings(name: str) -> None:
    assert (table_of(name).wide is None) == (name in BEYOND)


@pytest.mark.parametrize("name", bench.models.names())
def test_every_section_has_a_source(name: str) -> None:
    assert all(source for source, _ in sections(table_of(name)).values())


@pytest.mark.parametrize("name", bench.models.names())
def test_default_section_names_every_hyperparameter(name: str) -> None:
    assert set(table_of(name).default) == set(hyperparameters(name)) - set(EXECUTION)


@pytest.mark.parametrize("name", bench.models.names())
def test_dataset_sections_name_datasets(name: str) -> None:
    assert set(table_of(name).dataset) <= set(DATASET_SHAPES)


@pytest.mark.parametrize("dataset", DATASET_SHAPES)
@pytest.mark.parametrize("name", bench.models.names())
def test_settings_of_every_dataset_can_be_built(name: str, dataset: str) -> None:
    table, shape = table_of(name), DATASET_SHAPES[dataset]
    values = dict(table.default)
    if dataset in table.dataset:
        values.update(table.dataset[dataset].values())
    values.update(bench.models.entry(name).overrides)
    with torch.device("meta"):
        model = bench.models.build(
            name, shape.n_channels, n_times=shape.n_times, n_classes=shape.n_classes, **values
        )
    linear = [one for one in model.modules() if isinstance(one, nn.Linear)]
    assert linear[-1].out_features == shape.n_classes


NO_SCRIPT = {
    "uci-har": {
        *("autoformer", "fedformer", "informer", "itransformer", "mtst", "nonformer", "patchtst"),
        "medformer-latest",
    },
    "sleep-edf": {name for name in COMPARED if not name.startswith("medmamba")},
}


@pytest.mark.parametrize("dataset", DATASET_SHAPES)
@pytest.mark.parametrize("name", COMPARED)
def test_settings_without_a_script_say_that_they_are_ours(name: str, dataset: str) -> None:
    section = table_of(name).dataset.get(dataset)
    ours = section is not None and section.source.startswith("ours")
    assert ours == (name in NO_SCRIPT.get(dataset, set()))


# Their papers have one setting for every dataset.
ONE_SETTING = {"fcn", "resnet1d", "inceptiontime"}


@pytest.mark.parametrize("name", sorted(BEYOND))
def test_baselines_have_one_setting_and_say_if_that_is_ours(name: str) -> None:
    table = table_of(name)
    assert not table.dataset
    assert ("ours" in table.source) == (name not in ONE_SETTING)
