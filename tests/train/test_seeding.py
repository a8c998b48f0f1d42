"""Seeding: every purpose its own generator, the same everywhere."""

import torch

from bench.train.seeding import derived_seed, seed_draws, torch_generator
from tests.train.cohort import make_model


def test_purposes_do_not_share_a_stream() -> None:
    assert len({derived_seed(seed, purpose) for seed in (41, 42) for purpose in ("order", "evaluation")}) == 4


def test_derived_seeds_are_fixed() -> None:
    assert derived_seed(41, "order") == derived_seed(41, "order")
    assert torch.equal(
        torch.randperm(9, generator=torch_generator(1, "a")),
        torch.randperm(9, generator=torch_generator(1, "a")),
    )


def test_models_that_draw_are_reseeded() -> None:
    model = make_model("informer")
    seed_draws(model, 41, "evaluation")
    first = torch.rand(3, generator=model.draws)  # pyright: ignore[reportArgumentType, reportCallIssue]
    seed_draws(model, 41, "evaluation")
    assert torch.equal(first, torch.rand(3, generator=model.draws))  # pyright: ignore[reportArgumentType, reportCallIssue]
