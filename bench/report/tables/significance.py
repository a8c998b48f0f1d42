"""How certain the differences are: paired intervals over test subjects, ranks, wins, and the limits of six datasets.

Intervals come from `bench.stats.two_way`, tests from `bench.stats.statistics`.
"""

from collections.abc import Sequence

import numpy as np

from bench.paper.names import OURS, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.stats import statistics
from bench.stats.bootstrap import (
    Interval,
    distinct_draws,
    stratified_bootstrap,
)
from bench.stats.draws import LEVEL, N_RESAMPLES, named_generator
from bench.stats.estimate import POSSIBLE_POINTS
from bench.stats.rank_distance import rank_distance
from bench.stats.unknowable import NoIntervalError
from bench.studies.caption import plural, small_test, suite_setting
from bench.studies.model_blocks import together
from bench.studies.predicted import Predicted
from bench.studies.ranks import Scores, complete_scores
from bench.studies.suite import Study, Suite

ALPHA = 0.05
TIE = 1e-4
"""Mean scores that differ by less than this, a hundredth of a percentage point, are a tie."""

METRIC_TITLES = {"accuracy": "accuracy", "f1": "macro F1"}


def paired_table(suite: Suite, tested: Sequence[Predicted], metric: str, name: str) -> Table | None:
    """Return MedMamba's lead over each rival with an interval over test subjects; None without both."""
    rivals = [model for model in suite.models if model != OURS]
    having = [predicted for predicted in tested if OURS in predicted.cells]
    if not rivals or not having:
        return None
    notes = Footnotes()
    rows = tuple(
        Row(rival, tuple(paired_cell(predicted, rival, metric, notes) for predicted in having))
        for rival in rivals
    )
    studies = [predicted.study for predicted in having]
    return Table(
        name=name,
        title=f"Difference to MedMamba in {METRIC_TITLES[metric]}, paired by test window",
        columns=tuple(short_name(study.dataset) for study in studies),
        blocks=(Block("MedMamba minus rival, percentage points [interval]", rows),),
        caption=(
            f"{suite_setting(suite, studies)} {together((OURS, *rivals), 'Compared')}"
            f"{LEVEL:.0%} intervals for other seeds and other test subjects (docs/statistics.md). Bold: the interval "
            f"excludes zero; {plural(len(rivals) * len(studies), 'interval')}, not corrected for their number."
        ),
        footnotes=(*notes.texts,),
        corner="Rival",
    )


def paired_cell(tested: Predicted, rival: str, metric: str, notes: Footnotes, model: str = OURS) -> Cell:
    """Return a model's lead over a rival on one dataset, in points with its interval.

    A dash with the reason if either is incomplete; no interval if a single subject was tested.
    """
    for name in (model, rival):
        if not tested.is_complete(name):
            gap = tested.study.gap(name) or f"{name} on {tested.study.dataset}: predictions are missing"
            return Cell(note=notes.number(gap))
    try:
        lead = tested.lead(model, rival, metric)
    except NoIntervalError as error:
        means = [tested.study.groups[name].score(metric) for name in (model, rival)]
        mine, other = (100 * score.mean for score in means if score is not None)
        return Cell(mine - other, note=notes.number(f"{tested.study.label}: {error}"), unit="points")
    bounds = lead.bounds(LEVEL).within(POSSIBLE_POINTS)
    note = notes.number(small_test(tested.study)) if lead.few_subjects else None
    mark = "best" if bounds.excludes_zero and not lead.few_subjects else ""
    return Cell(lead.value, low=bounds.low, high=bounds.high, mark=mark, note=note, unit="points")


def rank_table(suite: Suite, metric: str, name: str) -> Table | None:
    """Return ranks per dataset and on average with Friedman's test; None with fewer than two models or datasets."""
    scores = complete_scores(suite.studies, suite.models, (metric,))
    if len(scores.rows) < 2:
        return None
    ranks = np.array([statistics.average_ranks(row[None]) for row in scores.values])
    average = ranks.mean(axis=0)
    order = np.argsort(average, kind="stable")
    rows = tuple(
        Row(
            scores.models[number],
            (*(Cell(float(rank)) for rank in ranks[:, number]), Cell(float(average[number]))),
        )
        for number in order
    )
    return Table(
        name=name,
        title=f"Ranks by {METRIC_TITLES[metric]}",
        columns=(*(short_name(dataset) for dataset, _ in scores.rows), "average"),
        blocks=(Block("rank, 1 is best; ties share the mean of their ranks", rows),),
        caption=(
            f"{suite_setting(suite, scores.studies)} {together(scores.models, 'Ranked')}{_rank_sentences(scores)}"
        ),
        footnotes=(f"ranked without {scores.left_out}",) if scores.left_out else (),
        unit="rank",
    )


def _rank_sentences(scores: Scores) -> str:
    """Report Friedman's test, the critical difference, and how little so few datasets can show."""
    n_datasets, n_models = scores.values.shape
    sentences = []
    if n_models > 2:
        test = statistics.friedman(scores.values)
        critical = statistics.nemenyi_critical_difference(n_models, n_datasets, ALPHA)
        ranks = np.array([statistics.average_ranks(row[None]) for row in scores.values]).mean(axis=0)
        distance = rank_distance(ranks, critical)
        sentences.append(
            f"Friedman's chi2 = {test.chi2:.2f} (p = {test.p_chi2:.3g}), Iman and Davenport's F = {test.f:.2f} "
            f"(p = {test.p:.3g}), N = {n_datasets} datasets, k = {n_models} models. Nemenyi's critical difference at "
            f"alpha = {ALPHA:g} is {critical:.2f} of {distance.largest} possible ranks: it separates "
            f"{len(distance.separable)} of {distance.n_pairs} pairs of models, those far apart."
        )
    smallest = statistics.smallest_signed_rank_p(n_datasets, n_models - 1)
    verdict = "can never be" if smallest > ALPHA else "can only just be"
    sentences.append(
        f"Low power: {n_datasets} datasets; a Wilcoxon test of one pair with Holm's correction over {n_models - 1} "
        f"{verdict} significant (smallest p {smallest:.2g})."
    )
    return " ".join(sentences)


def wins_table(suite: Suite, metric: str, name: str) -> Table | None:
    """Return wins, probability of improvement and interquartile means over datasets; None without MedMamba."""
    scores = complete_scores(suite.studies, suite.models, (metric,))
    if OURS not in scores.models or not scores.rows:
        return None
    notes = Footnotes()
    runs = {model: _runs(scores.studies, model, metric) for model in scores.models}
    ours = scores.values[:, scores.models.index(OURS)]
    rows = []
    for column, model in enumerate(scores.models):
        cells = [_interquartile(runs[model], model, metric, notes)]
        if model == OURS:
            cells.extend([Cell()] * 4)
        else:
            counts = statistics.win_tie_loss(ours, scores.values[:, column], TIE)
            cells.extend(Cell(text=str(count)) for count in counts)
            cells.append(_improvement(runs[OURS], runs[model], model, metric))
        rows.append(Row(model, tuple(cells)))
    n_seeds = min(len(study.seeds) for study in scores.studies)
    left_out = (f"compared without {scores.left_out}",) if scores.left_out else ()
    return Table(
        name=name,
        title=f"MedMamba against each model by {METRIC_TITLES[metric]}, over {plural(len(scores.rows), 'dataset')}",
        columns=("interquartile mean", "wins", "ties", "losses", "P(MedMamba better)"),
        blocks=(Block("", tuple(rows)),),
        caption=(
            f"{suite_setting(suite, scores.studies)} {together(scores.models, 'Compared')}"
            "Interquartile mean over all runs, in percent, and P, each with a "
            f"{LEVEL:.0%} interval from {N_RESAMPLES} draws of seeds within datasets ({n_seeds} seeds: "
            f"{distinct_draws(n_seeds)} different draws each). Wins, ties (less than {100 * TIE:g} points apart) and "
            "losses of MedMamba by mean over seeds. P: probability that a run of MedMamba scores above a run of the "
            "other, averaged over datasets."
        ),
        footnotes=(*notes.texts, *left_out),
    )


_Runs = Sequence[np.ndarray]
"""Scores of all runs of a model: one array (n_seeds,) for each dataset."""


def _runs(studies: Sequence[Study], model: str, metric: str) -> _Runs:
    scores = [
        [
            value
            for record in study.groups[model].records
            if record.metrics and (value := getattr(record.metrics.test, metric)) is not None
        ]
        for study in studies
    ]
    return [np.array(found) for found in scores if found]


def _is_balanced(runs: _Runs) -> bool:
    return len({len(run) for run in runs}) == 1


def _interquartile(runs: _Runs, model: str, metric: str, notes: Footnotes) -> Cell:
    if not _is_balanced(runs):
        return Cell(note=notes.number("datasets with more seeds would weigh more in this mean"))
    rng = named_generator("interquartile mean", model, metric)
    interval = stratified_bootstrap(
        statistics.interquartile_mean, [np.stack(runs, axis=1)], rng, N_RESAMPLES, LEVEL
    )
    return _percent(interval)


def _improvement(ours: _Runs, others: _Runs, model: str, metric: str) -> Cell:
    """Return the probability of improvement, with an interval if all datasets have the same seeds."""
    if not (_is_balanced(ours) and _is_balanced(others)):
        pairs = zip(ours, others, strict=True)
        each = [statistics.probability_of_improvement(a[:, None], b[:, None]) for a, b in pairs]
        return Cell(100 * float(np.mean(each)))
    rng = named_generator("probability of improvement", model, metric)
    runs = [np.stack(values, axis=1) for values in (ours, others)]
    return _percent(
        stratified_bootstrap(statistics.probability_of_improvement, runs, rng, N_RESAMPLES, LEVEL)
    )


def _percent(interval: Interval) -> Cell:
    """Return an interval in percent; without its ends if only one unit was resampled."""
    if interval.n_units < 2:
        return Cell(100 * interval.estimate)
    return Cell(100 * interval.estimate, low=100 * interval.low, high=100 * interval.high)
