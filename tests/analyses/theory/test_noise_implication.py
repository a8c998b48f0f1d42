"""The first proposition's implication: constructed mixers meet the premise, and the count finds a violation."""

import numpy as np

from bench.analyses.theory.noise_implication import (
    N_CHANNELS,
    Tally,
    check_implication,
    constructed_mixer,
    falls_as_claimed,
    tally_trained,
)
from bench.analyses.theory.noise_suppression import constants

STRETCH = np.diag([2.0, 0.5, 0.1])[None]


def test_constructed_mixers_meet_the_premise() -> None:
    rng = np.random.default_rng(0)
    for r in range(1, N_CHANNELS):
        matrix, basis = constructed_mixer(r, rng)
        assert constants(matrix[None], basis, r).premise.all()


def test_a_point_counts_where_the_premise_holds() -> None:
    point = np.array([[1.0, 1.0, 1.0]])
    assert falls_as_claimed(STRETCH, point, np.eye(3), 1) == Tally(1, 1)
    assert falls_as_claimed(np.eye(3)[None], point, np.eye(3), 1) == Tally(0, 0)


def test_trained_mixers_are_counted_over_seeds_bases_and_dimensions() -> None:
    point = np.array([[1.0, 1.0, 1.0]])
    bases = {"one": np.eye(3), "reversed": np.eye(3)[:, ::-1].copy()}
    # The reversed basis keeps what is contracted, and meets the premise for no r.
    assert tally_trained([STRETCH, STRETCH], point, bases) == Tally(4, 4)


def test_it_holds_and_names_the_trained_points() -> None:
    check = check_implication({"ptb": Tally(7, 7), "adftd": Tally(0, 0)}, np.random.default_rng(1))
    assert (check.number, check.verdict) == ("1b", "holds")
    assert check.on.endswith("ptb 7")


def test_one_point_that_does_not_fall_refutes_it() -> None:
    check = check_implication({"ptb": Tally(7, 6)}, np.random.default_rng(1))
    assert check.verdict == "does not hold here"
