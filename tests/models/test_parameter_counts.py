"""Parameters that take part in the forward pass against those of the published code, in every published setting."""

import json
import re
from typing import Any

import pytest
import torch

import bench.models
from bench.settings.tables import hyperparameter_table
from tests.models.golden import FOLDER

COUNTS = json.loads((FOLDER / "param_counts.json").read_text(encoding="utf-8"))

REGISTERED = {
    "Medformer (commit 446275f)": "medformer",
    "Medformer (commit 891f65b)": "medformer-latest",
    "MedMamba single scale (stride 5)": "medmamba-single-scale",
    "MedMamba unidirectional": "medmamba-unidirectional",
    "MedMamba no channel mixing": "medmamba-no-channel-mixing",
}
# Recorded, but a setting rather than a model of its own.
SETTINGS_ONLY = {"MedMamba merge add"}


def n_parameters(name: str, dataset: str, **settings: Any) -> int:
    """Count the trainable parameters at a dataset's shape without allocating them."""
    shape = COUNTS["datasets"][dataset]
    with torch.device("meta"):
        model = bench.models.build(
            name, shape["channels"], n_times=shape["length"], n_classes=shape["classes"], **settings
        )
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def recorded_settings(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that a recorded count names."""
    settings: dict[str, Any] = {}
    if "patch_len_list" in entry:
        settings["patch_lengths"] = [int(part) for part in entry["patch_len_list"].split(",")]
    if "n_layers" in entry:
        settings["n_layers"] = entry["n_layers"]
    return settings


@pytest.mark.parametrize("dataset", COUNTS["datasets"])
@pytest.mark.parametrize("recorded", sorted(set(COUNTS["counts"]) - SETTINGS_ONLY))
def test_parameters_in_the_forward_pass(recorded: str, dataset: str) -> None:
    entry = COUNTS["counts"][recorded][dataset]
    name = REGISTERED.get(recorded, recorded.lower())
    assert n_parameters(name, dataset, **recorded_settings(entry)) == entry["used_in_forward"]


@pytest.mark.parametrize("dataset", COUNTS["datasets"])
def test_parameters_with_added_directions(dataset: str) -> None:
    entry = COUNTS["counts"]["MedMamba merge add"][dataset]
    n = n_parameters("medmamba", dataset, merge="add", **recorded_settings(entry))
    assert n == entry["used_in_forward"]


def test_every_model_of_the_papers_tables_has_recorded_counts() -> None:
    recorded = {REGISTERED.get(one, one.lower()) for one in set(COUNTS["counts"]) - SETTINGS_ONLY}
    groups = {name: bench.models.entry(name).group for name in bench.models.names()}
    assert recorded == {name for name, group in groups.items() if group in ("paper", "variant")}


def widths_of(key: str) -> tuple[str, dict[str, Any]]:
    """Split a key such as 'Transformer d_model=256 d_ff=1024' in registered name and settings."""
    name = key.split()[0].lower()
    settings: dict[str, Any] = {k: int(v) for k, v in re.findall(r"(d_model|d_ff)=(\d+)", key)}
    lists = re.findall(r"patch_len_list=([\d,]+)", key)
    if lists:
        settings["patch_lengths"] = [int(part) for part in lists[0].split(",")]
    return name, settings


@pytest.mark.parametrize("key", COUNTS["adftd_baselines_other_widths"])
def test_parameters_at_other_widths(key: str) -> None:
    name, settings = widths_of(key)
    expected = COUNTS["adftd_baselines_other_widths"][key]["used_in_forward"]
    assert n_parameters(name, "ADFTD", **settings) == expected


@pytest.mark.parametrize(("name", "commit"), [("medformer", "446275f"), ("medformer-latest", "891f65b")])
def test_medformer_at_other_widths(name: str, commit: str) -> None:
    recorded = COUNTS["medformer_alternatives"][f"ADFTD other widths, {commit}"]
    expected = {key: n for key, n in recorded.items() if "d_model=512" not in key}
    counted = {key: n_parameters(name, "ADFTD", **widths_of(f"{name} {key}")[1]) for key in expected}
    assert counted == expected


WIDE = {
    "medformer": 30_402_051,
    "medformer-latest": 30_107_139,
    "medmamba": 5_719_881,
    **{
        key.split()[0].lower(): entry["used_in_forward"]
        for key, entry in COUNTS["adftd_baselines_other_widths"].items()
        if key.endswith("d_model=256 d_ff=1024")
    },
}


@pytest.mark.parametrize("name", [*bench.models.names(all_only=True), "medformer-latest"])
def test_parameters_of_the_wide_set(name: str) -> None:
    table = hyperparameter_table(bench.models.entry(name).settings)
    assert table is not None
    assert table.wide is not None
    assert n_parameters(name, "ADFTD", **{**table.default, **table.wide.values()}) == WIDE[name]
