"""Documents that repeat what the package says of itself say the same."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import datasets
from bench.cli import main

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", datasets.names())
def test_every_dataset_has_its_card_in_the_docs(name: str) -> None:
    shown = CliRunner().invoke(main, ["list", "datasets"]).output
    card = next(one for one in shown.split("\n\n") if one.startswith(f"{name}:"))
    assert card in (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_shows_what_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    for part in text.split("](")[1:]:
        target = part.partition(")")[0]
        assert (ROOT / target).exists(), f"README links to {target}"
