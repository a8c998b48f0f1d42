"""Remarks of fact on the published numbers, for the footnotes of the tables that show them.

Source: the published tables (`published.py`) alone. All remarks are computed; none explains a number.
"""

from bench.paper import published
from bench.paper.claim_checks import strongest_rival
from bench.paper.published import PublishedScore
from bench.paper.table_checks import f1_bound, repeats_accuracy


def remarks(dataset: str, model: str, metric: str) -> tuple[str, ...]:
    """Return the oddities of one published score, as sentences; none for most scores and for unprinted ones."""
    score = published.lookup(dataset, model, metric)
    if score is None:
        return ()
    found = (_impossible_f1(score), _equals_accuracy(score), _not_best(score), _wrong_mark(score))
    return tuple(remark for remark in found if remark)


def _impossible_f1(score: PublishedScore) -> str:
    if score.metric != "f1":
        return ""
    precision = published.lookup(score.dataset, score.model, "precision")
    recall = published.lookup(score.dataset, score.model, "recall")
    if precision is None or recall is None:
        return ""
    finding = f1_bound(score.mean, precision.mean, recall.mean)
    return "" if finding.holds else f"arithmetically impossible: {finding.evidence}"


def _equals_accuracy(score: PublishedScore) -> str:
    """Remark on a recall that repeats the accuracy, as a recall weighted by class sizes always does."""
    if not repeats_accuracy(score):
        return ""
    return "mean and std are the accuracy's to the last digit, as those of a recall weighted by class sizes would be"


def _not_best(score: PublishedScore) -> str:
    """Remark on a cell of MedMamba that a rival exceeds, against the text's claim of the best in all."""
    rival = strongest_rival(score.dataset, score.metric)
    if score.model != "medmamba" or score.mean >= rival.mean:
        return ""
    return f"not the best of its row: {rival.model} has {rival.mean:.2f}"


def _wrong_mark(score: PublishedScore) -> str:
    """Remark on a best-of-row mark that the row's numbers contradict, present or absent."""
    row = (published.lookup(score.dataset, model, score.metric) for model in published.models())
    best = max(cell.mean for cell in row if cell is not None)
    if score.bold == (score.mean == best):
        return ""
    return (
        f"{'marked' if score.bold else 'not marked'} as the best of its row, whose highest mean is {best:.2f}"
    )
