"""Verdicts on the paper's claims of a state of the art, from what others had published when it appeared."""

from bench.field.field_tables import precedence_sentence
from bench.field.precedence import judge_best
from bench.paper.claims import Claim
from bench.paper.names import short_name
from bench.paper.scale import Ruling, Verdict, all_hold
from bench.stats.verdict import part_level

PROTOCOLS = "other papers' protocols differ (bench field show)"


def judge_field(claim: Claim) -> Ruling:
    """Rule that the paper's scores were the best published, on every dataset and in every metric of a claim.

    Where nothing earlier is known there is nothing to compare with.
    """
    parts = [(dataset, metric) for dataset in claim.about["datasets"] for metric in claim.about["metrics"]]
    rulings = [_ruling(dataset, metric, part_level(len(parts))) for dataset, metric in parts]
    found = all_hold(rulings)
    return Ruling(found.verdict, f"{found.evidence}; {PROTOCOLS}")


def _ruling(dataset: str, metric: str, level: float) -> Ruling:
    judged = judge_best(dataset, metric, level)
    name = short_name(dataset)
    if judged is None:
        return Ruling(Verdict.UNDECIDED, f"{name}: nothing earlier is known")
    return Ruling(Verdict(judged.decision), f"{name}: {precedence_sentence(judged)}")
