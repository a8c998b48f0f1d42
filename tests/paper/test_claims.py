"""The ledger holds every kind of claim, and its verdicts follow from numbers and records."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from bench.paper import claim_checks, claims, published
from bench.paper.claim_checks import CHECKS, Finding, Verdict
from bench.paper.claims import Claim, Ruling

PAPER_CONTRADICTS = {
    "best-everywhere",
    "ecg-best-in-all-metrics",
    "ptb-strongest-baseline",
    "ptb-other-metrics",
    "six-metrics",
    "efficiency-medformer-f1",
    "ptb-xl-harder-than-adftd",
}
IMPOSSIBLE = {
    "uci-har-window-length",
    "main_results2/uci-har/crossformer/f1",
    "main_results2/uci-har/nonformer/f1",
    "main_results2/uci-har/patchtst/f1",
}


def with_verdict(verdict: Verdict) -> set[str]:
    return {entry.claim.id for entry in claims.ledger() if entry.ruling.verdict is verdict}


def test_claims_that_the_papers_own_numbers_contradict() -> None:
    assert with_verdict(Verdict.CONTRADICTED_BY_PAPER) == PAPER_CONTRADICTS


def test_a_tie_is_not_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["uci-har"], ["f1"]
    assert claim_checks.best_in_rows(*rows).holds
    ours = published.lookup("uci-har", "medmamba", "f1")
    monkeypatch.setattr(claim_checks, "strongest_rival", lambda *_: ours)
    assert not claim_checks.best_in_rows(*rows).holds


def test_claims_that_are_arithmetically_impossible() -> None:
    assert with_verdict(Verdict.IMPOSSIBLE) == IMPOSSIBLE


def test_claim_refuted_by_a_counterexample() -> None:
    assert with_verdict(Verdict.CONTRADICTED) == {"denser-scales-strictly-better"}


def test_only_arithmetic_is_reproduced_without_records() -> None:
    needs = {entry.claim.needs for entry in claims.ledger() if entry.ruling.verdict is Verdict.REPRODUCED}
    assert needs == {"arithmetic"}


def test_not_checkable_claims_say_why() -> None:
    entries = [entry for entry in claims.ledger() if entry.ruling.verdict is Verdict.NOT_CHECKABLE]
    assert entries
    for entry in entries:
        assert claims.needs()[entry.claim.needs].unobtainable in entry.ruling.evidence


def test_evidence_shows_the_numbers() -> None:
    ruling = next(e.ruling for e in claims.ledger() if e.claim.id == "ptb-strongest-baseline")
    assert (
        ruling.evidence == "the strongest baseline is itransformer with 83.89, the text has medformer's 83.50"
    )


def test_identifiers_are_unique() -> None:
    identifiers = [entry.claim.id for entry in claims.ledger()]
    assert len(identifiers) == len(set(identifiers))


def test_every_printed_cell_is_a_claim() -> None:
    losses, configured = 3 * 5, 6 * 8
    assert len(claims.cell_claims()) == 6 * 12 * 5 + 4 * 5 + losses + 5 * 2 + 6 * 6 + configured


@pytest.mark.parametrize("claim", claims.text_claims(), ids=lambda claim: claim.id)
def test_claim_is_well_formed(claim: Claim) -> None:
    assert claim.needs in claims.needs()
    assert claim.text
    assert claim.place
    assert claim.kind in {
        "number",
        "count",
        "comparison",
        "ordering",
        "theory",
        "protocol",
        "impression",
    }
    assert claim.value or claim.needs in {"criterion", "literature", "embedding", "scaling", "theory"}


def test_every_obtainable_need_has_a_command() -> None:
    assert all(need.command.startswith("bench ") for need in claims.needs().values() if not need.unobtainable)


def test_no_verdict_is_written_in_the_ledger_file() -> None:
    assert not any("verdict" in claim for claim in claims._ledger_file()["claim"])


def test_every_check_is_used() -> None:
    used = {claim.check["name"] for claim in (*claims.text_claims(), *claims.cell_claims()) if claim.check}
    assert used == set(CHECKS)


def test_judge_of_records_rules_on_open_claims() -> None:
    entries = claims.ledger({"centralization": lambda _: Ruling(Verdict.WITHIN_BOUNDS, "measured 0.40")})
    ruled = {entry.claim.id for entry in entries if entry.ruling.verdict is Verdict.WITHIN_BOUNDS}
    assert ruled == {claim.id for claim in _all_claims() if claim.needs == "centralization"}


def test_judge_without_a_verdict_leaves_the_claim_open() -> None:
    assert claims.ledger({"cells": lambda _: None}) == claims.ledger()


def test_records_cannot_acquit_what_the_paper_itself_refutes() -> None:
    claim = next(claim for claim in claims.text_claims() if claim.id == "best-everywhere")
    ruling = claims.judge(claim, lambda _: Ruling(Verdict.REPRODUCED, "measured"))
    assert ruling.verdict is Verdict.CONTRADICTED_BY_PAPER


def test_records_of_the_rare_device_make_a_claim_checkable() -> None:
    claim = next(claim for claim in claims.text_claims() if claim.id == "medmamba-throughput")
    assert claims.judge(claim).verdict is Verdict.NOT_CHECKABLE
    assert claims.judge(claim, lambda _: Ruling(Verdict.CONTRADICTED, "")).verdict is Verdict.CONTRADICTED


def test_cell_claims_carry_what_a_judge_compares() -> None:
    claim = next(claim for claim in claims.cell_claims() if claim.id == "main_results1/ptb/medmamba/f1")
    assert claim.about == {"dataset": "ptb", "model": "medmamba", "metric": "f1", "mean": 82.77, "std": 2.19}
    assert claim.command == "bench run --models medmamba --datasets ptb"


def test_tally_counts_every_entry() -> None:
    entries = claims.ledger()
    tally = claims.tally(entries)
    assert list(tally) == list(Verdict)
    assert sum(tally.values()) == len(entries)


def test_ledger_imports_nothing_heavy() -> None:
    heavy = {"torch", "sklearn", "scipy", "pandas", "numpy"}
    for module in (claims, claim_checks, published):
        tree = ast.parse(Path(inspect.getfile(module)).read_text(encoding="utf-8"))
        roots = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        roots |= {
            (node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        }
        assert not roots & heavy, module.__name__


@settings(max_examples=30, deadline=None)
@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    seed=st.integers(0, 2**32 - 1),
)
def test_macro_f1_never_exceeds_the_bound(labels: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.empty((5, 3))
    for run in scores:
        predicted = rng.integers(0, 4, size=len(labels))
        for column, score in enumerate((f1_score, precision_score, recall_score)):
            options = {"labels": np.unique(labels), "average": "macro", "zero_division": 0}
            run[column] = 100 * float(score(labels, predicted, **options))
    f1, precision, recall = (round(float(mean), 2) for mean in scores.mean(axis=0))
    assert claim_checks.f1_bound(f1, precision, recall).holds


@pytest.mark.parametrize(("f1", "holds"), [(80.0, True), (80.01, True), (80.02, False)])
def test_f1_bound_allows_for_rounding_only(f1: float, holds: bool) -> None:
    assert claim_checks.f1_bound(f1, 79.0, 81.0).holds is holds


@pytest.mark.parametrize(
    ("finding", "holds"),
    [
        (claim_checks.strongest_baseline("ptb", "accuracy", 83.89), True),
        (claim_checks.strongest_baseline("ptb", "accuracy", 83.89, "itransformer"), True),
        (claim_checks.strongest_baseline("ptb", "accuracy", 83.89, "medformer"), False),
        (claim_checks.larger_lead("adftd", "apava", "accuracy"), False),
        (claim_checks.margin("ptb", "accuracy", "itransformer", 2.08, 2), True),
        (claim_checks.margin("ptb", "accuracy", "itransformer", 2.47, 2), False),
        (claim_checks.equals_table(("adftd", "medformer", "f1"), 50.7, 1), True),
        (claim_checks.equals_table(("adftd", "medformer", "f1"), 50.8, 1), False),
        (claim_checks.best_in_rows(["sleep-edf"], ["f1"]), True),
        (claim_checks.best_in_rows(["sleep-edf"], ["recall"]), False),
        (claim_checks.harder("adftd", "ptb-xl", ["f1"]), True),
        (claim_checks.hardest("ptb-xl", ["f1"]), False),
        (claim_checks.loses("medmamba-unidirectional", "f1", 51.41, 0.61), True),
        (claim_checks.loses("medmamba-unidirectional", "f1", 51.41, 0.70), False),
        (claim_checks.loss_order(["medmamba-unidirectional", "medmamba-single-scale"]), False),
        (claim_checks.full_model_best(["medmamba"]), False),
        (claim_checks.more_centralized("adftd"), False),
        (claim_checks.ratio("parameters", "medformer", ["medmamba"], 5.5, 1), False),
        (claim_checks.ratio("throughput", "medmamba", ["medformer"], 5.1, 1), False),
        (claim_checks.summary_counts(6, 2), False),
        (claim_checks.summary_agrees("ptb", n_subjects=290), False),
        (claim_checks.configuration(["d_model", "channel_dropout"], ["n_layers"]), False),
        (claim_checks.product([2.56, 50], 128), True),
        (claim_checks.total([60, 20, 10], 100), False),
        (claim_checks.whole_trials(5968, 1280, 256, 128), False),
        (claim_checks.token_counts(256, [25], [11]), False),
        (claim_checks.added_scale([5, 10, 25], 16), True),
        (claim_checks.beats_single_scale([5, 25]), False),
        (claim_checks.token_bound(256, [5, 25], -1), False),
        (claim_checks.named(2, ["one"]), False),
        (claim_checks.descending([1, 2]), False),
    ],
    ids=lambda value: value.evidence if isinstance(value, Finding) else str(value),
)
def test_check_can_come_out_either_way(finding: Finding, holds: bool) -> None:
    assert finding.holds is holds


def test_check_of_an_unprinted_cell_is_refused() -> None:
    with pytest.raises(LookupError, match="no auprc of medmamba on ptb"):
        claim_checks.equals_table(("ptb", "medmamba", "auprc"), 1.0, 2)


def _all_claims() -> tuple[Claim, ...]:
    return (*claims.text_claims(), *claims.cell_claims())
