"""docs/models.md says of every model what the package says of it."""

import re
from pathlib import Path

import pytest

from bench.models import registry
from bench.settings.tables import hyperparameter_table, recipe
from tests.models.test_parameter_counts import n_parameters

DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"
TABLE_COLUMNS = 7


def rows() -> dict[str, list[str]]:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    _, _, *models = [row for row in cells if len(row) == TABLE_COLUMNS]
    return {row[0]: row for row in models}


def test_every_model_has_its_row() -> None:
    ours = {name for name in registry.names() if not registry.entry(name).is_own}
    assert set(rows()) == {*ours, *registry.estimator_names(), "braindecode (8)"}


def test_every_estimator_has_its_row() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Estimators")[2]
    for name in registry.estimator_names():
        entry = registry.entry(name)
        source = f"{entry.paper}; {entry.repository}@{entry.commit}" if entry.commit != "-" else "-"
        assert any(
            line.startswith(f"| {name} |") and line.endswith(f"| {source} |") for line in text.splitlines()
        )


def test_every_network_of_braindecode_has_its_row() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("## Networks of braindecode")[2]
    listed = re.findall(r"^\| (\w+) \| [A-Z]", text.partition("\n## ")[0], re.MULTILINE)
    assert {f"braindecode.{name}" for name in listed} == set(registry.braindecode_names())


@pytest.mark.parametrize("name", registry.names())
def test_a_row_is_the_models(name: str) -> None:
    entry = registry.entry(name)
    _, kind, paper, source, parameters, protocol, _ = rows()[name]
    assert kind == f"{entry.group}, {entry.family}"
    assert paper == entry.paper
    assert source == entry.repository + (f"@{entry.commit}" if entry.commit != "-" else "")
    assert protocol == recipe("published").followed_by(name)
    table = hyperparameter_table(entry.settings)
    assert table is not None
    settings = table.default | (table.dataset["adftd"].values() if "adftd" in table.dataset else {})
    assert parameters == f"{n_parameters(name, 'ADFTD', **(settings | dict(entry.overrides))):,}"
