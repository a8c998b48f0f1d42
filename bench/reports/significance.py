"""How sure the differences are: paired intervals over test subjects, ranks, wins, and how little six datasets say.

Intervals come from `bench.results.bootstrap`, tests from `bench.results.statistics`. Draws are seeded by dataset,
model and metric, so that a report is the same when it is rendered again.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from bench.reports.caption import suite_caption
from bench.reports.predicted import Predicted
from bench.reports.ranks import Scores, complete_scores
from bench.reports.suite import OURS, Study, Suite, short_name
from bench.reports.table import Block, Cell, Footnotes, Row, Table
from bench.results import statistics
from bench.results.bootstrap import PairedPredictions, distinct_draws, paired_difference, stratified_bootstrap

LEVEL = 0.95
ALPHA = 0.05
N_RESAMPLES = 600
METRIC_TITLES = {"accuracy": "accuracy", "f1": "macro F1"}


def paired_table(suite: Suite, tested: Sequence[Predicted], metric: str, name: str) -> Table | None:
    """Return MedMamba's lead over each rival with an interval over test subjects; None without both."""
    rivals = [model for model in suite.models if model != OURS]
    having = [one for one in tested if OURS in one.cells]
    if not rivals or not having:
        return None
    notes = Footnotes()
    rows = tuple(
        Row(rival, tuple(paired_cell(one, rival, metric, notes) for one in having)) for rival in rivals
    )
    studies = [one.study for one in having]
    return Table(
        name=name,
        title=f"Difference to MedMamba in {METRIC_TITLES[metric]}, paired by test window",
        columns=tuple(short_name(study.dataset) for study in studies),
        blocks=(Block("MedMamba minus rival, percentage points [interval]", rows),),
        caption=(
            f"{suite_caption(suite, studies)} {LEVEL:.0%} percentile intervals from {N_RESAMPLES} draws of whole test "
            "subjects, seeds averaged: they speak of other subjects, not of other seeds. Bold: the interval excludes "
            f"zero; {len(rivals) * len(studies)} intervals, not corrected for their number."
        ),
        footnotes=(*notes.texts,),
        corner="Rival",
    )


def paired_cell(tested: Predicted, rival: str, metric: str, notes: Footnotes) -> Cell:
    """Return MedMamba's lead over a rival on one dataset, in points with its interval, or a dash with the reason."""
    for model in (OURS, rival):
        if not tested.is_complete(model):
            gap = tested.study.gap(model) or f"{model} on {tested.study.dataset}: predictions are missing"
            return Cell(note=notes.number(gap))
    assert tested.label is not None
    assert tested.grouping is not None
    pair = PairedPredictions(
        tested.label, tested.grouping.codes, tested.predicted(OURS), tested.predicted(rival)
    )
    rng = _generator(tested.study.dataset, rival, metric)
    interval = paired_difference(pair, metric, rng, N_RESAMPLES, LEVEL)
    note = None
    if interval.few_units:
        note = notes.number(
            f"{short_name(tested.study.dataset)}: {interval.n_units} test subjects have only "
            f"{distinct_draws(interval.n_units):,} different draws; the interval is too narrow to be relied on"
        )
    mark = "best" if interval.excludes_zero and not interval.few_units else ""
    return Cell(
        100 * interval.estimate, mark=mark, note=note, low=100 * interval.low, high=100 * interval.high
    )


def rank_table(suite: Suite, metric: str, name: str) -> Table | None:
    """Return ranks per dataset and on average with Friedman's test; None with fewer than two models or datasets."""
    scores = complete_scores(suite.studies, suite.models, (metric,))
    if len(scores.rows) < 2 or len(scores.models) < 2:
        return None
    ranks = np.array([statistics.average_ranks(row[None]) for row in scores.values])
    average = ranks.mean(axis=0)
    order = np.argsort(average, kind="stable")
    rows = tuple(
        Row(scores.models[one], (*(Cell(float(rank)) for rank in ranks[:, one]), Cell(float(average[one]))))
        for one in order
    )
    left_out = [
        short_name(study.dataset)
        for study in suite.studies
        if study.dataset not in {dataset for dataset, _ in scores.rows}
    ]
    without = f"left out, a model being incomplete there: {', '.join(left_out)}"
    return Table(
        name=name,
        title=f"Ranks by {METRIC_TITLES[metric]}",
        columns=(*(short_name(dataset) for dataset, _ in scores.rows), "average"),
        blocks=(Block("rank, 1 is best; ties share the mean of their ranks", rows),),
        caption=f"{suite_caption(suite, _ranked(suite, scores))} {_rank_sentences(scores)}",
        footnotes=(without,) if left_out else (),
        unit="rank",
    )


def _rank_sentences(scores: Scores) -> str:
    """Say Friedman's test, the critical difference, and how little so few datasets can show."""
    n_datasets, n_models = scores.values.shape
    sentences = []
    if n_models > 2:
        test = statistics.friedman(scores.values)
        critical = statistics.nemenyi_critical_difference(n_models, n_datasets, ALPHA)
        sentences.append(
            f"Friedman's chi2 = {test.chi2:.2f} (p = {test.p_chi2:.3g}), Iman and Davenport's F = {test.f:.2f} "
            f"(p = {test.p:.3g}), N = {n_datasets} datasets, k = {n_models} models. Nemenyi's critical difference at "
            f"alpha = {ALPHA:g} is {critical:.2f} ranks."
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
    if OURS not in scores.models or len(scores.models) < 2 or not scores.rows:
        return None
    studies = _ranked(suite, scores)
    if len({len(study.seeds) for study in studies}) > 1:
        return None
    runs = {model: _runs(studies, model, metric) for model in scores.models}
    ours = scores.values[:, scores.models.index(OURS)]
    rows = []
    for column, model in enumerate(scores.models):
        cells = [_interquartile(runs[model], model, metric)]
        if model == OURS:
            cells.extend([Cell()] * 4)
        else:
            counts = statistics.win_tie_loss(ours, scores.values[:, column])
            cells.extend(Cell(text=str(count)) for count in counts)
            better = statistics.probability_of_improvement(runs[OURS], runs[model])
            cells.append(Cell(100 * better))
        rows.append(Row(model, tuple(cells)))
    n_seeds = len(studies[0].seeds)
    return Table(
        name=name,
        title=f"MedMamba against each model by {METRIC_TITLES[metric]}, over {len(studies)} datasets",
        columns=("interquartile mean", "wins", "ties", "losses", "P(MedMamba better)"),
        blocks=(Block("", tuple(rows)),),
        caption=(
            f"{suite_caption(suite, studies)} Interquartile mean over all runs, {LEVEL:.0%} interval from "
            f"{N_RESAMPLES} draws of seeds within datasets ({n_seeds} seeds: {distinct_draws(n_seeds)} different draws "
            "each). Wins, ties and losses of MedMamba by mean over seeds. P: probability that a run of MedMamba "
            "scores above a run of the other, averaged over datasets. A test of one pair over "
            f"{n_seeds} seeds cannot give p below {statistics.smallest_signed_rank_p(n_seeds):.3g}."
        ),
    )


def _ranked(suite: Suite, scores: Scores) -> list[Study]:
    datasets = {dataset for dataset, _ in scores.rows}
    return [study for study in suite.studies if study.dataset in datasets]


def _runs(studies: Sequence[Study], model: str, metric: str) -> np.ndarray:
    """Return the scores of all runs of a model, (n_seeds, n_datasets)."""
    return np.array(
        [
            [getattr(one.metrics.test, metric) for one in study.groups[model].records if one.metrics]
            for study in studies
        ]
    ).T


def _interquartile(runs: np.ndarray, model: str, metric: str) -> Cell:
    rng = _generator("interquartile mean", model, metric)
    interval = stratified_bootstrap(statistics.interquartile_mean, [runs], rng, N_RESAMPLES, LEVEL)
    return Cell(100 * interval.estimate, low=100 * interval.low, high=100 * interval.high)


def _generator(*names: str) -> np.random.Generator:
    """Return a generator that depends on names only."""
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
