"""Operations counted while a scan runs, against hand counts and the theorem."""

import torch

from bench.analyses.theory.scan_cost import (
    OperationCount,
    check_scan_cost,
    count_scan,
    n_tokens_by_formula,
    n_tokens_of_model,
)


def test_products_and_maps_are_counted_and_views_are_not() -> None:
    a, b = torch.ones(2, 3, 4), torch.ones(2, 4, 5)
    with OperationCount() as count:
        _ = (a.mT.contiguous() * 2).exp()
        _ = torch.bmm(a, b)
    assert count.n_operations == 2 * 24 + 2 * (2 * 3 * 5) * 4


def test_scan_by_hand() -> None:
    # Per token, direction and feature. For each state: step A, its exponential, two products for what enters, times
    # the state before, their sum, times C and the sum over states: 8. Step: bias, softplus; skip: D u and its sum: 4.
    assert count_scan(n_tokens=7, d_inner=4, d_state=3) == 7 * 2 * 4 * (8 * 3 + 4)


def test_tokens_of_the_papers_example() -> None:
    assert [n_tokens_by_formula(256, stride) for stride in (5, 10, 25)] == [51, 25, 10]


def test_model_has_as_many_tokens() -> None:
    assert n_tokens_of_model(256, (5, 10, 25)) == [51, 25, 10]


def test_theorem_holds_as_counted() -> None:
    check = check_scan_cost()
    assert check.verdict == "holds"
    assert check.values["spread_over_lengths"] == 1.0
