"""How a measured score rules on a stated one.

A number is reproduced when the measured mean is at most one published standard deviation away (plus half a
printed digit), within bounds at two, contradicted beyond. An effect (a loss, a lead, a change) is contradicted when
it is measured as zero or of the other sign, whatever its distance; one of the same sign goes by its own deviation over
seeds. A comparison is reproduced when every measured mean compares as claimed. Records that are not the paper's
data, split, recipe, settings and seeds decide nothing; the evidence then says what was measured and why it is void.
"""

from bench.reports.reproduction import void_of
from bench.reports.suite import Study
from bench.results.analysed import over_seeds
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


def score_ruling(
    study: Study | None, model: str, metric: str, mean: float, std: float, half_digit: float = HALF_DIGIT
) -> Ruling | None:
    """Rule on a stated mean and deviation in percent; None where the model was not run."""
    found = measured_mean(study, model, metric)
    if study is None or found is None:
        return None
    void = void_of(study, model)
    if void:
        return Ruling(Verdict.NEEDS_RECORDS, f"measured {found:.2f}, which decides nothing: {void}")
    return within_stds(found, mean, std, half_digit)


def paired_difference(study: Study | None, model: str, other: str, metric: str) -> tuple[float, float] | None:
    """Return mean and sample deviation over seeds of one model's score minus another's, in percentage points.

    None where either model has no scores that may be set against the paper's.
    """
    if study is None or void_of(study, model) or void_of(study, other):
        return None
    scores = [_by_seed(study, name, metric) for name in (model, other)]
    shared = sorted(scores[0].keys() & scores[1].keys())
    found = over_seeds([100 * (scores[0][seed] - scores[1][seed]) for seed in shared])
    return None if found is None or found[1] is None else (found[0], found[1])


def within_stds(found: float, stated: float, std: float, half_digit: float = HALF_DIGIT) -> Ruling:
    """Rule on a number by its distance in published deviations.

    ``half_digit`` is half of the last digit that the paper prints of it.
    """
    difference = found - stated
    verdict = Verdict.CONTRADICTED
    if abs(difference) <= std + half_digit:
        verdict = Verdict.REPRODUCED
    elif abs(difference) <= 2 * std + half_digit:
        verdict = Verdict.WITHIN_BOUNDS
    return Ruling(verdict, f"measured {found:.2f}, stated {stated:.2f} (std {std:.2f}): {difference:+z.2f}")


def effect_ruling(found: float, stated: float, std: float, half_digit: float = HALF_DIGIT) -> Ruling:
    """Rule on a stated loss, lead or change by its sign first, then by its distance in deviations over seeds.

    Parameters
    ----------
    found
        Measured mean over seeds, in the unit of ``stated``.
    stated
        What the paper says; not zero.
    std
        Sample deviation over seeds of the measured effect itself: of differences paired by seed, of changes.
    half_digit
        Half of the last digit that the paper prints of it.
    """
    if found * stated <= 0:
        text = f"measured {found:+.2f} (std {std:.2f}), stated {stated:+.2f}: not of the stated sign"
        return Ruling(Verdict.CONTRADICTED, text)
    return within_stds(found, stated, std, half_digit)


def comparison_ruling(holds: bool, evidence: str) -> Ruling:
    """Rule on a comparison."""
    return Ruling(Verdict.REPRODUCED if holds else Verdict.CONTRADICTED, evidence)


def _by_seed(study: Study, model: str, metric: str) -> dict[int, float]:
    """Return a model's scores by seed, as fractions of one; reduced models of the ablation included."""
    records = [r for group in study.comparison.groups if group.model == model for r in group.records]
    found = {
        record.cell.seed: getattr(record.metrics.test, metric)
        for record in records
        if record.metrics is not None
    }
    return {seed: value for seed, value in found.items() if value is not None}
