"""The ablation's cells come with MedMamba on ADFTD, once, and can be left out."""

import pytest

from bench.plan.ablation_variants import VARIANTS
from bench.plan.request import make_request


def variants(models: str, datasets: str, *, ablation: bool = True) -> list[tuple[str, str, int]]:
    request = make_request(
        models_text=models,
        datasets_text=datasets,
        seeds_text="41,42",
        preset_name="paper",
        recipe_name=None,
        assignments=(),
        ablation=ablation,
    )
    return [(cell.model, cell.dataset, cell.seed) for cell in request.settings() if cell.model in VARIANTS]


def test_variants_run_on_adftd_with_every_seed() -> None:
    assert variants("all", "all") == [(name, "adftd", seed) for seed in (41, 42) for name in VARIANTS]


@pytest.mark.parametrize(
    ("models", "datasets", "ablation"),
    [("transformer", "all", True), ("medmamba", "ptb", True), ("medmamba", "adftd", False)],
)
def test_no_variants_without_both_or_when_left_out(models: str, datasets: str, ablation: bool) -> None:
    assert variants(models, datasets, ablation=ablation) == []


def test_a_variant_that_was_named_is_not_doubled() -> None:
    found = variants("medmamba,medmamba-single-scale", "adftd")
    assert sorted(found) == sorted((name, "adftd", seed) for seed in (41, 42) for name in VARIANTS)


def test_the_whole_grid_is_375_cells() -> None:
    request = make_request(
        models_text="all",
        datasets_text="all",
        seeds_text=None,
        preset_name="paper",
        recipe_name=None,
        assignments=(),
        ablation=True,
    )
    assert len(request.settings()) == 12 * 6 * 5 + 15
