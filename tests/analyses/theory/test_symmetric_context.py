"""The task of the symmetric neighbourhood against hand-computed values, its read-outs, and what cores learn."""

import pytest
import torch

from bench.analyses.theory.symmetric_context import (
    AT_STEP,
    D_MODEL,
    FAR,
    N_TOKENS,
    NEAR,
    StepReadOut,
    accuracy,
    ceiling,
    check_symmetric_context,
    draw_marked,
    draw_series,
    look_ahead,
    ring_sum,
)


def test_ring_by_hand() -> None:
    series = torch.tensor([[1.0, 2, 4, 8, 16, 32, 64]])
    # Two and three steps away, on both sides; zeros beyond the ends.
    assert ring_sum(series, 1, 3).tolist() == [
        [4 + 8, 8 + 16, 1 + 16 + 32, 1 + 2 + 32 + 64, 2 + 4 + 64, 4 + 8, 8 + 16]
    ]


@pytest.mark.parametrize(("n_known", "n_terms", "expected"), [(1, 2, 0.75), (0, 4, 0.5), (3, 3, 1.0)])
def test_ceiling_by_hand(n_known: int, n_terms: int, expected: float) -> None:
    assert ceiling(n_known, n_terms) == pytest.approx(expected)


def test_ceiling_is_what_guessing_from_half_the_terms_reaches() -> None:
    terms = torch.randn(200_000, 6, generator=torch.Generator().manual_seed(0))
    hits = (terms[:, :3].sum(1) > 0) == (terms.sum(1) > 0)
    assert float(hits.float().mean()) == pytest.approx(ceiling(3, 6), abs=0.005)


def test_ring_begins_beyond_what_the_convolution_sees() -> None:
    assert look_ahead(1) == NEAR


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_forward_only_core_sees_two_tokens_ahead_a_layer(n_layers: int) -> None:
    assert look_ahead(n_layers) == 2 * n_layers


def test_step_read_out_reads_the_label_of_a_step_from_a_later_token() -> None:
    read_out = StepReadOut(delay=2)
    torch.nn.init.ones_(read_out.score.weight)
    torch.nn.init.zeros_(read_out.score.bias)
    place = torch.arange(float(N_TOKENS))
    tokens = (place / D_MODEL).unsqueeze(1).expand(1, N_TOKENS, D_MODEL)
    torch.testing.assert_close(
        read_out(tokens) - read_out.targets(place.unsqueeze(0)), torch.full((1, N_TOKENS - 2 * FAR), 2.0)
    )


def test_labels_are_of_the_ring() -> None:
    x, labels = draw_series(3, torch.Generator().manual_seed(0))
    at = N_TOKENS // 2
    ring = [at + sign * k for k in range(NEAR + 1, FAR + 1) for sign in (1, -1)]
    assert labels[:, at].tolist() == (x[:, ring, 0].sum(1) > 0).float().tolist()


def test_marked_label_is_that_of_the_marked_step() -> None:
    x, labels = draw_marked(8, torch.Generator().manual_seed(0))
    for window, label in zip(x, labels, strict=True):
        (at,) = window[:, 1].nonzero().flatten().tolist()
        ring = [at + sign * k for k in range(NEAR + 1, FAR + 1) for sign in (1, -1)]
        assert label.item() == float(window[ring, 0].sum() > 0)


def test_training_repeats_and_leaves_the_default_generator_alone() -> None:
    before = torch.get_rng_state()
    first, again = (accuracy(AT_STEP, 41, bidirectional=True, n_steps=3) for _ in range(2))
    assert first == again
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.slow
def test_what_cores_learn() -> None:
    verdicts = {check.number: check.verdict for check in check_symmetric_context()}
    assert verdicts == {
        "5a": "holds",
        "5b": "holds",
        "5c": "does not hold here",
        "5d": "does not hold here",
    }
