"""How a measured score rules on a stated one.

A number is reproduced when the measured mean is at most one published standard deviation away (plus half a
printed digit), within bounds at two, contradicted beyond. An effect (a loss, a lead, a change) is contradicted when
it is measured as zero or of the other sign, whatever its distance; one of the same sign goes by its own deviation over
seeds. A comparison is reproduced when every measured mean compares as claimed. Records that are not the paper's
data, split, recipe, settings and seeds decide nothing; the evidence then says what was measured and why it is void.
"""

from bench.analyses.analysed import over_seeds
from bench.paper.claim_checks import HALF_DIGIT, Verdict
from bench.paper.claims import Ruling
from bench.report.tables.reproduction import void_of
from bench.studies.aggregate import seed_differences
from bench.studies.suite import Study


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
    return void_ruling(f"measured {found:.2f}", void) if void else within_stds(found, mean, std, half_digit)


def seed_difference(study: Study | None, model: str, other: str, metric: str) -> tuple[float, float] | None:
    """Return mean and sample deviation over seeds of one model's score minus another's, in percentage points.

    None where either model has no scores that may be set against the paper's.
    """
    if study is None or void_of(study, model) or void_of(study, other):
        return None
    groups = {group.model: group for group in study.comparison.groups}
    found = over_seeds(seed_differences(groups[model], groups[other], metric))
    return None if found is None or found[1] is None else (found[0], found[1])


def void_ruling(evidence: str, reason: str) -> Ruling:
    """Tell numbers that decide nothing, and why."""
    return Ruling(Verdict.NEEDS_RECORDS, f"{evidence}, which decides nothing: {reason}")


def unless_void(ruling: Ruling | None, reason: str) -> Ruling | None:
    """Return a ruling where no reason speaks against its records; an empty reason does not."""
    return void_ruling(ruling.evidence, reason) if ruling and reason else ruling


def by_distance(off: float, near: float, far: float) -> Verdict:
    """Return reproduced up to the near distance, within bounds up to the far one, else contradicted."""
    if off <= near:
        return Verdict.REPRODUCED
    return Verdict.WITHIN_BOUNDS if off <= far else Verdict.CONTRADICTED


def within_stds(found: float, stated: float, std: float, half_digit: float = HALF_DIGIT) -> Ruling:
    """Rule on a number by its distance in published deviations.

    ``half_digit`` is half of the last digit that the paper prints of it.
    """
    difference = found - stated
    verdict = by_distance(abs(difference), std + half_digit, 2 * std + half_digit)
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
    return Ruling(comparison_verdict(holds), evidence)


def comparison_verdict(holds: bool) -> Verdict:
    """Return the verdict on a comparison."""
    return Verdict.REPRODUCED if holds else Verdict.CONTRADICTED
