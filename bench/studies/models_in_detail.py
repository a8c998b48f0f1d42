"""The two models that detailed figures show: MedMamba and its best rival, or the best two without MedMamba."""

from bench.paper.names import OURS
from bench.studies.predicted import Predicted


def models_in_detail(tested: Predicted) -> list[str]:
    """Return at most two complete models with predictions, MedMamba first, then by macro F1."""
    study = tested.study

    def f1(model: str) -> float:
        score = study.groups[model].score("f1")
        return -1.0 if score is None else score.mean

    complete = [model for model in study.groups if tested.is_complete(model)]
    return sorted(complete, key=lambda model: (model != OURS, -f1(model), model))[:2]
