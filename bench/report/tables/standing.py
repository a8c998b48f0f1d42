"""Who leads on one dataset by macro F1, by how much, and how sure that is; for the headline and the page."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.paper.names import OURS
from bench.render.table import Cell, Footnotes
from bench.report.tables.significance import paired_cell
from bench.stats.unknowable import NoIntervalError
from bench.stats.verdict import Decision, decide_all_positive
from bench.studies.chance import stratified_scores
from bench.studies.predicted import Predicted
from bench.studies.suite import Study

_CERTAINTY = {
    Decision.SUPPORTED: "ahead of all rivals",
    Decision.CONTRADICTED: "behind a rival",
    Decision.UNDECIDED: "undecided",
}


@dataclass(frozen=True)
class Standing:
    """The complete models of a study by macro F1.

    Attributes
    ----------
    f1
        Mean F1 over seeds, a fraction, by model, highest first.
    guess
        Expected F1 of guessing each class with its share, a fraction.
    leader, rival
        MedMamba and the best other model; without MedMamba the best two. Empty if there are none.
    lead
        Leader minus rival in points, with an interval if there is one; empty if they cannot be compared.
    certainty
        Whether the leader is surely ahead of all others, or what makes that meaningless, in a few words.
    """

    study: Study
    f1: Mapping[str, float]
    guess: float
    leader: str
    rival: str
    lead: Cell
    certainty: str

    @property
    def order(self) -> list[str]:
        """The models, best first."""
        return list(self.f1)


def standing(study: Study, tested: Predicted | None, notes: Footnotes) -> Standing:
    """Return who leads on a dataset; ``notes`` takes the footnotes of the lead."""
    scores = {model: score for model in study.groups if (score := _f1(study, model)) is not None}
    order = sorted(scores, key=lambda model: (-scores[model], model))
    leader = OURS if OURS in order else next(iter(order), "")
    rival = next((model for model in order if model != leader), "")
    guess = stratified_scores(study.record.data.parts["test"].windows_per_class)["f1"]
    lead = Cell()
    if rival and tested is not None and study.has_one_protocol:
        lead = paired_cell(tested, rival, "f1", notes, model=leader)
    is_above = bool(order) and scores[order[0]] > guess
    return Standing(
        study=study,
        f1={model: scores[model] for model in order},
        guess=guess,
        leader=leader,
        rival=rival,
        lead=lead,
        certainty=_certainty(study, tested, order, is_above=is_above),
    )


def _f1(study: Study, model: str) -> float | None:
    """Return the mean F1 of a complete model."""
    score = study.groups[model].score("f1") if study.is_complete(model) else None
    return None if score is None else score.mean


def _certainty(study: Study, tested: Predicted | None, order: list[str], *, is_above: bool) -> str:
    """Say whether MedMamba, else the best model, is surely ahead of all rivals, or what makes that meaningless."""
    if study.record.data.kind == "simulated":
        return "not interpretable (simulated)"
    if not study.has_one_protocol:
        return "not one protocol: no ranking"
    if not is_above:
        return "best is no better than a guess"
    leader = OURS if OURS in order else order[0]
    rivals = [model for model in order if model != leader]
    if tested is None or not rivals or not all(map(tested.is_complete, order)):
        return "nothing to compare"
    if len(study.seeds) < 2:
        return "one seed: no verdict"
    try:
        leads = [tested.lead(leader, rival, "f1") for rival in rivals]
    except NoIntervalError:
        return "too few subjects to say"
    if any(lead.few_subjects for lead in leads):
        return "too few subjects to say"
    return _CERTAINTY[decide_all_positive(leads)]
