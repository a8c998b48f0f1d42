"""How a measured score rules on a stated one.

A number is reproduced when the measured mean is at most one published standard deviation away (plus half a
printed digit), within bounds at two, contradicted beyond. A comparison is reproduced when every measured mean compares
as claimed. Records that are not the paper's data, split, recipe, settings and seeds decide nothing; the evidence
then says what was measured and why it is void.
"""

from bench.reports.reproduction import void_of
from bench.reports.suite import Study
from bench.results.claim_checks import HALF_DIGIT, Verdict
from bench.results.claims import Ruling


def measured_mean(study: Study | None, model: str, metric: str) -> float | None:
    """Return a model's mean in percent, reduced models of the ablation included; None where there is none."""
    groups = {group.model: group for group in study.comparison.groups} if study else {}
    score = groups[model].score(metric) if model in groups else None
    return None if score is None else 100 * score.mean


def comparable_mean(study: Study | None, model: str, metric: str) -> float | None:
    """Return a mean that may be set against the paper's, or None."""
    found = measured_mean(study, model, metric)
    return None if study is None or found is None or void_of(study, model) else found


def score_ruling(study: Study | None, model: str, metric: str, mean: float, std: float) -> Ruling | None:
    """Rule on a stated mean and deviation in percent; None where the model was not run."""
    found = measured_mean(study, model, metric)
    if study is None or found is None:
        return None
    void = void_of(study, model)
    if void:
        return Ruling(Verdict.NEEDS_RECORDS, f"measured {found:.2f}, which decides nothing: {void}")
    return within_stds(found, mean, std)


def within_stds(found: float, stated: float, std: float) -> Ruling:
    """Rule on a number by its distance in published deviations."""
    difference = found - stated
    verdict = Verdict.CONTRADICTED
    if abs(difference) <= std + HALF_DIGIT:
        verdict = Verdict.REPRODUCED
    elif abs(difference) <= 2 * std + HALF_DIGIT:
        verdict = Verdict.WITHIN_BOUNDS
    return Ruling(verdict, f"measured {found:.2f}, stated {stated:.2f} (std {std:.2f}): {difference:+.2f}")


def comparison_ruling(holds: bool, evidence: str) -> Ruling:
    """Rule on a comparison."""
    return Ruling(Verdict.REPRODUCED if holds else Verdict.CONTRADICTED, evidence)
