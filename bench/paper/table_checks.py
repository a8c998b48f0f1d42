"""Tests of the printed tables as a whole: what no rounding can explain.

Source: the published tables (`published.py`).
"""

from collections import defaultdict

from bench.paper import published
from bench.paper.published import HALF_DIGIT, PublishedScore
from bench.paper.scale import Finding

FUZZ = 1e-9
"""For binary rounding: 0.015 may come out as 0.01500000000000341."""

IMPOSSIBLE = "arithmetically impossible"
SECONDS_PER_HOUR = 3600


def f1_bound(f1: float, precision: float, recall: float) -> Finding:
    """Test that a macro F1 is at most the mean of macro precision and macro recall (in percent, two decimals).

    Per class F1 is the harmonic mean of precision and recall, hence at most their arithmetic mean; both sides
    are linear, so the bound survives the mean over classes and the mean over seeds. The slack is the
    rounding of the three printed numbers. It holds where a class is never predicted (all three count as 0).
    """
    bound = (precision + recall) / 2
    return Finding(
        f1 - bound <= 2 * HALF_DIGIT + FUZZ,
        f"macro F1 {f1:.2f}, at most ({precision:.2f} + {recall:.2f}) / 2 = {bound:.3f}",
        IMPOSSIBLE,
    )


def possible_f1() -> Finding:
    """Test the bound of every printed F1 of the main tables and of the ablation."""
    rows: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for score in published.main_results():
        rows[score.dataset, score.model][score.metric] = score.mean
    for cell in published.ablation():
        rows[f"{published.ABLATION_DATASET} (ablation)", cell.variant][cell.metric] = cell.mean
    found = {
        place: f1_bound(row["f1"], row["precision"], row["recall"]) for place, row in sorted(rows.items())
    }
    failing = [
        f"{model} on {dataset}: {finding.evidence}"
        for (dataset, model), finding in found.items()
        if not finding.holds
    ]
    shown = f"{len(failing)} of {len(found)} are not: {'; '.join(failing)}"
    return Finding(not failing, shown if failing else f"all {len(found)} are", IMPOSSIBLE)


def macro_recalls() -> Finding:
    """Test that no recall repeats the accuracy, mean and deviation, to the last digit.

    A recall weighted by class sizes is the accuracy, always; a macro average over classes of unequal size is not.
    """
    equal = [score for score in published.main_results() if repeats_accuracy(score)]
    names = ", ".join(
        f"{score.model} on {score.dataset} ({score.mean:.2f} ± {score.std:.2f})" for score in equal
    )
    return Finding(
        not equal,
        f"recall is the accuracy to the last digit, deviation included, for {names or 'no model'}; so is always a "
        "recall weighted by class sizes, but not a macro average",
    )


def repeats_accuracy(score: PublishedScore) -> bool:
    """Whether a score is a recall whose mean and deviation are those of the accuracy."""
    accuracy = published.lookup(score.dataset, score.model, "accuracy")
    return (
        score.metric == "recall"
        and accuracy is not None
        and (score.mean, score.std) == (accuracy.mean, accuracy.std)
    )


def whole_nights(dataset: str, window_s: float, least_hours: float, known_as: str, nights: int) -> Finding:
    """Test that a dataset's windows are enough for a night of at least so many hours of each stated subject.

    Parameters
    ----------
    dataset
        Its row of the summary table is tested.
    window_s
        Length of a window in seconds.
    least_hours
        Our choice: less is no night.
    known_as, nights
        The selection that has this number of windows, and its number of nights.
    """
    row = next(row for row in published.dataset_summary() if row.dataset == dataset)
    hours = row.n_windows * window_s / SECONDS_PER_HOUR
    of_each = hours / row.n_subjects
    return Finding(
        of_each >= least_hours,
        f"{row.n_windows:,} windows of {window_s:g} s are {hours:.1f} hours: {of_each:.1f} for each of "
        f"{row.n_subjects} subjects, less than a night (at least {least_hours:g}, by our definition), but "
        f"{hours / nights:.1f} for each of the {nights} nights of {known_as}, which has this number of windows",
    )
