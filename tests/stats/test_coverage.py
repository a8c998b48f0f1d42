"""The simulation of error rates: it finds what it should, and the page shows all that it simulates."""

from pathlib import Path

import numpy as np
import pytest

from bench.stats.verdict import Decision
from benchmarks.coverage import __main__ as command
from benchmarks.coverage.intervals import RANKINGS, Held, coverage, ranking_coverage
from benchmarks.coverage.settings import SETTINGS
from benchmarks.coverage.verdicts import OTHER_SUBJECTS, SCENARIOS, Rates, rates

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
NUMBER = SCENARIOS[0]


def test_subjects_alone_hold_the_truth_less_often() -> None:
    score, difference = coverage(SETTINGS[0], "accuracy", 100, np.random.default_rng(0))
    assert (score.what, difference.what, difference.n_studies) == ("score", "difference", 100)
    before, _, now = difference.shares
    assert before is not None
    assert now is not None
    assert before < 0.85 < 0.9 <= now


def test_one_seed_has_a_dash() -> None:
    found = next(iter(coverage(SETTINGS[-2], "f1", 3, np.random.default_rng(0))))
    assert found.shares[-1] is None
    assert command.coverage_table([found]).splitlines()[-1].count(" - ") == 1


def test_auroc_is_simulated_in_closed_form_only() -> None:
    found = next(iter(ranking_coverage(RANKINGS[1], 5, np.random.default_rng(0))))
    assert found.shares[:2] == (None, None)
    assert found.shares[2] is not None


@pytest.mark.parametrize(("share", "n_failures"), [(0.95, 0), (0.92, 1), (0.98, 1)])
def test_an_interval_that_does_not_hold_what_it_promises_is_told(share: float, n_failures: int) -> None:
    held = Held(SETTINGS[0].name, "f1", "score", (0.5, 0.5, share), 100_000)
    assert len(command.failed_intervals([held])) == n_failures


@pytest.mark.parametrize(("contradicted", "n_failures"), [(0.04, 0), (0.06, 1)])
def test_a_verdict_that_is_wrong_too_often_is_told(contradicted: float, n_failures: int) -> None:
    found = Rates(NUMBER, (0.5, 0.5), (0.3, contradicted), 100_000)
    assert len(command.failed_verdicts([found])) == n_failures


def test_only_wrong_verdicts_are_bold() -> None:
    row = command.verdict_table([Rates(NUMBER, (0.9, 0.1), (0.3, 0.04), 100)]).splitlines()[-1]
    assert [cell.strip() for cell in row.split("|")[3:7]] == ["90.0", "**10.0**", "30.0", "**4.0**"]


@pytest.mark.parametrize(
    "scenario", [*SCENARIOS, *OTHER_SUBJECTS], ids=lambda scenario: f"{scenario.claim}, {scenario.truth}"
)
def test_every_claim_is_decided_in_both_ways(scenario) -> None:
    found = rates(scenario, 3, np.random.default_rng(0))
    assert found.n_studies == 3
    assert max(sum(found.before), sum(found.by_intervals)) <= 1
    assert set(scenario.wrong) <= {Decision.SUPPORTED, Decision.CONTRADICTED}


def test_the_page_shows_every_setting_and_claim() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for setting in SETTINGS:
        assert f"| {setting.name} " in page
    for scenario in (*SCENARIOS, *OTHER_SUBJECTS):
        assert any(scenario.claim in line and f"| {scenario.truth} " in line for line in page.splitlines()), (
            scenario.truth
        )


def test_new_tables_replace_the_old_ones() -> None:
    page = "a\n<!-- coverage: begin -->\nold\n<!-- coverage: end -->\nb\n"
    assert command.replaced(page, "coverage", ["new", "lines"]) == page.replace("old", "new\n\nlines")
    with pytest.raises(SystemExit, match="expected one"):
        command.replaced(page, "verdicts", [])
