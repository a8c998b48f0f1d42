"""The rules that turn a measured score and a stated score into a verdict.

A number is reproduced when the measured mean is at most one published standard deviation away (plus half a
printed digit), within bounds at two, contradicted beyond. An effect (a loss, a lead, a change) is contradicted when
it is measured as zero or of the other sign, whatever its distance; one of the same sign goes by its own deviation over
seeds. A comparison is reproduced when all measured means are ordered as claimed. Records that are not the paper's
data, split, recipe, settings and seeds decide nothing; the evidence then says what was measured and why it is void.
"""

from bench.paper.claim_checks import HALF_DIGIT, Verdict
from bench.paper.claims import Ruling


def void_ruling(evidence: str, reason: str) -> Ruling:
    """Return a ruling without a verdict: the numbers, and why they decide nothing."""
    return Ruling(Verdict.NEEDS_RECORDS, f"{evidence}, which decides nothing: {reason}")


def unless_void(ruling: Ruling | None, reason: str) -> Ruling | None:
    """Return a ruling, or a void ruling if the reason against its records is not empty."""
    return void_ruling(ruling.evidence, reason) if ruling and reason else ruling


def by_distance(off: float, near: float, far: float) -> Verdict:
    """Return "reproduced" up to the near distance, "within bounds" up to the far distance, else "contradicted"."""
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
        The paper's number; not zero.
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
