"""Scores of a study that may be compared with the paper's, and their differences over seeds."""

from bench.paper.claim_checks import HALF_DIGIT
from bench.paper.claims import Ruling
from bench.paper.rulings import void_ruling, within_stds
from bench.stats.summary import over_seeds
from bench.studies.aggregate import seed_differences
from bench.studies.suite import Study


def measured_mean(study: Study | None, model: str, metric: str) -> float | None:
    """Return a model's mean in percent, reduced models of the ablation included; None if it has no score."""
    groups = {group.model: group for group in study.comparison.groups} if study else {}
    score = groups[model].score(metric) if model in groups else None
    return None if score is None else 100 * score.mean


def comparable_mean(study: Study | None, model: str, metric: str) -> float | None:
    """Return a mean that may be compared with the paper's, or None."""
    found = measured_mean(study, model, metric)
    return None if study is None or found is None or study.void(model) else found


def score_ruling(
    study: Study | None, model: str, metric: str, mean: float, std: float, half_digit: float = HALF_DIGIT
) -> Ruling | None:
    """Rule on a stated mean and deviation in percent; None if the model was not run."""
    found = measured_mean(study, model, metric)
    if study is None or found is None:
        return None
    void = study.void(model)
    return void_ruling(f"measured {found:.2f}", void) if void else within_stds(found, mean, std, half_digit)


def seed_difference(study: Study | None, model: str, other: str, metric: str) -> tuple[float, float] | None:
    """Return mean and sample deviation over seeds of one model's score minus another's, in percentage points.

    None if either model has no scores that may be compared with the paper's.
    """
    if study is None or study.void(model) or study.void(other):
        return None
    groups = {group.model: group for group in study.comparison.groups}
    found = over_seeds(seed_differences(groups[model], groups[other], metric))
    return None if found is None or found[1] is None else (found[0], found[1])
