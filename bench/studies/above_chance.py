"""How far models are above chance: by how many points at least, given other seeds and other test subjects."""

from bench.stats.draws import LEVEL
from bench.stats.two_way import score_estimate
from bench.stats.unknowable import NoIntervalError
from bench.studies.chance import stratified_scores
from bench.studies.predicted import Predicted


def points_above_chance(tested: Predicted) -> dict[str, float | None]:
    """Return by model how many points of macro F1 the low end of its interval lies above a stratified guess.

    None stands where there is no interval: seeds are missing, there is one seed, or one subject of a class.
    """
    guess = stratified_scores(tested.study.record.data.parts["test"].windows_per_class)["f1"]
    found: dict[str, float | None] = {}
    for model in tested.study.groups:
        low = _lowest(tested, model)
        found[model] = None if low is None else 100 * (low - guess)
    return found


def _lowest(tested: Predicted, model: str) -> float | None:
    if not tested.is_complete(model):
        return None
    try:
        return score_estimate(tested.left_out(model, "f1")).share_bounds(LEVEL).low
    except NoIntervalError:
        return None
