"""The ledger holds every kind of claim, and its verdicts follow from numbers and records."""

import ast
import inspect
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from bench.paper import claim_checks, claims, published, scale, table_checks
from bench.paper.claim_checks import CHECKS
from bench.paper.claims import Claim
from bench.paper.names import WITHOUT_PUBLISHED_SPLIT
from bench.paper.scale import Finding, Ruling, Verdict, all_hold
from bench.stats.verdict import Decision

MOST_ROWS = 80
BY_OWN_NUMBERS = {
    "best-everywhere",
    "ecg-best-in-all-metrics",
    "ptb-strongest-baseline",
    "six-metrics",
    "macro-averages",
    "sleep-edf-subjects",
    "efficiency-medformer-f1",
    "ptb-xl-harder-than-adftd",
}
IMPOSSIBLE = {"uci-har-window-length", "possible-f1"}


def with_verdict(verdict: Verdict, because: str = "") -> set[str]:
    return {
        entry.claim.id
        for entry in claims.ledger()
        if entry.ruling.verdict is verdict and entry.ruling.evidence.startswith(because)
    }


def test_claims_that_the_papers_own_numbers_contradict() -> None:
    assert with_verdict(Verdict.CONTRADICTED, "by the paper's own numbers: ") == BY_OWN_NUMBERS


def test_a_tie_is_not_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["uci-har"], ["f1"]
    assert claim_checks.best_in_rows(*rows).holds
    ours = published.lookup("uci-har", "medmamba", "f1")
    monkeypatch.setattr(claim_checks, "strongest_rival", lambda *_: ours)
    assert not claim_checks.best_in_rows(*rows).holds


def test_claims_that_are_arithmetically_impossible() -> None:
    assert with_verdict(Verdict.CONTRADICTED, "arithmetically impossible: ") == IMPOSSIBLE


def test_claim_refuted_by_a_counterexample() -> None:
    assert with_verdict(Verdict.CONTRADICTED, "by a counterexample: ") == {"denser-scales-strictly-better"}


def test_the_ledger_is_one_page() -> None:
    assert len(claims.text_claims()) <= MOST_ROWS


def test_only_arithmetic_is_supported_without_records() -> None:
    needs = {entry.claim.needs for entry in claims.ledger() if entry.ruling.verdict is Verdict.SUPPORTED}
    assert needs == {"arithmetic"}


def test_not_checkable_claims_say_why() -> None:
    entries = [entry for entry in claims.ledger() if entry.ruling.verdict is Verdict.NOT_CHECKABLE]
    assert entries
    for entry in entries:
        assert claims.needs()[entry.claim.needs].unobtainable in entry.ruling.evidence


def test_what_compares_our_settings_with_the_paper_is_followed_never_supported() -> None:
    followed = {claim.needs for claim in claims.text_claims() if claims.needs()[claim.needs].followed}
    assert followed == {"setup", "batches", "protocols", "counts", "disjoint", "scaling-of-data"}
    for entry in claims.ledger():
        if entry.claim.needs in followed:
            assert entry.ruling.verdict is Verdict.FOLLOWED


def test_records_of_other_settings_leave_what_is_followed_outside_the_tally() -> None:
    asked = next(claim for claim in claims.text_claims() if claim.needs == "setup")
    ruling = claims.judge(asked, lambda _: Ruling(Verdict.UNDECIDED, "changed epochs=3"))
    assert ruling.verdict is Verdict.FOLLOWED
    assert ruling.evidence.endswith("; changed epochs=3")


def test_the_published_split_that_shares_subjects_is_told() -> None:
    evidence = next(e.ruling.evidence for e in claims.ledger() if e.claim.id == "subjects-disjoint")
    assert "UCI-HAR" in evidence
    assert "training and validation share subjects" in evidence


@pytest.mark.parametrize("name", ["uci-har-all-metrics", "sleep-edf-best-auroc", "uci-har-split"])
def test_without_a_published_split_nothing_is_promised(name: str) -> None:
    ruling = next(e.ruling for e in claims.ledger() if e.claim.id == name)
    assert ruling.verdict is Verdict.NOT_CHECKABLE
    assert ruling.evidence.startswith("no published split")


def test_recall_that_is_the_accuracy_is_told_of_three_models() -> None:
    evidence = table_checks.macro_recalls().evidence
    assert [name in evidence for name in ("reformer", "transformer", "medformer")] == [True] * 3
    assert evidence.count(" on uci-har (") == 3


def test_evidence_shows_the_numbers() -> None:
    ruling = next(e.ruling for e in claims.ledger() if e.claim.id == "ptb-strongest-baseline")
    numbers = "the strongest baseline is itransformer with 83.89, the text has medformer's 83.50"
    assert ruling.evidence == f"by the paper's own numbers: {numbers}"


def test_identifiers_are_unique() -> None:
    identifiers = [entry.claim.id for entry in claims.ledger()]
    assert len(identifiers) == len(set(identifiers))


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
    used = {claim.check["name"] for claim in claims.text_claims() if claim.check}
    used |= {part["name"] for claim in claims.text_claims() for part in claim.check.get("checks", ())}
    assert used == set(CHECKS)


def test_judge_of_records_rules_on_open_claims() -> None:
    entries = claims.ledger({"centralization": lambda _: Ruling(Verdict.SUPPORTED, "measured 0.40")})
    ruled = {entry.claim.id for entry in entries if entry.ruling.evidence == "measured 0.40"}
    assert ruled == {claim.id for claim in claims.text_claims() if claim.needs == "centralization"}


def test_judge_without_a_verdict_leaves_the_claim_open() -> None:
    assert claims.ledger({"cells": lambda _: None}) == claims.ledger()


def test_records_cannot_acquit_what_the_paper_itself_refutes() -> None:
    claim = next(claim for claim in claims.text_claims() if claim.id == "best-everywhere")
    ruling = claims.judge(claim, lambda _: Ruling(Verdict.SUPPORTED, "measured"))
    assert ruling.verdict is Verdict.CONTRADICTED


def test_records_of_the_rare_device_make_a_claim_checkable() -> None:
    claim = next(claim for claim in claims.text_claims() if claim.id == "throughputs")
    assert claims.judge(claim).verdict is Verdict.NOT_CHECKABLE
    assert claims.judge(claim, lambda _: Ruling(Verdict.CONTRADICTED, "")).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("verdicts", "of_all"),
    [
        ((Verdict.SUPPORTED, Verdict.SUPPORTED), Verdict.SUPPORTED),
        ((Verdict.SUPPORTED, Verdict.UNDECIDED), Verdict.UNDECIDED),
        ((Verdict.UNDECIDED, Verdict.CONTRADICTED), Verdict.CONTRADICTED),
        ((Verdict.UNDECIDED, Verdict.NOT_CHECKABLE), Verdict.NOT_CHECKABLE),
    ],
)
def test_the_worst_part_decides_a_claim(verdicts: tuple[Verdict, ...], of_all: Verdict) -> None:
    ruling = all_hold([Ruling(verdict, verdict) for verdict in verdicts])
    assert ruling == Ruling(of_all, "; ".join(verdicts))


def test_the_scale_speaks_the_words_of_the_decisions() -> None:
    assert [Verdict(decision) for decision in Decision] == [
        Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED,
    ]  # fmt: skip


def test_datasets_without_a_published_split_are_those_whose_list_is_ours() -> None:
    lists = files("bench.datasets") / "published_splits"
    origins = {
        row.dataset: json.loads((lists / f"{row.dataset}.json").read_text(encoding="utf-8"))["origin"]
        for row in published.dataset_summary()
        if (lists / f"{row.dataset}.json").is_file()
    }
    assert {name for name, origin in origins.items() if origin == "ours"} == set(WITHOUT_PUBLISHED_SPLIT)


def test_tally_counts_every_entry() -> None:
    entries = claims.ledger()
    tally = claims.tally(entries)
    assert list(tally) == list(Verdict)
    assert sum(tally.values()) == len(entries)


def test_ledger_imports_nothing_heavy() -> None:
    heavy = {"torch", "sklearn", "scipy", "pandas", "numpy"}
    for module in (claims, claim_checks, published, scale, table_checks):
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
    assert table_checks.f1_bound(f1, precision, recall).holds


@pytest.mark.parametrize(("f1", "holds"), [(80.0, True), (80.01, True), (80.02, False)])
def test_f1_bound_allows_for_rounding_only(f1: float, holds: bool) -> None:
    assert table_checks.f1_bound(f1, 79.0, 81.0).holds is holds


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
        (claim_checks.all_of([{"name": "total", "parts": [1, 2], "whole": 3}]), True),
        (claim_checks.all_of([{"name": "total", "parts": [1, 2], "whole": n} for n in (3, 4)]), False),
        (table_checks.whole_nights("apava", 3600, 200, "x", 1), True),
        (table_checks.whole_nights("apava", 3600, 300, "x", 1), False),
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
