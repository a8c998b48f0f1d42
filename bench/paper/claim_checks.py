"""Tests of the paper's claims against the paper's own numbers; no record of ours takes part.

Source: the published tables (`published.py`). Each check takes the arguments that `claims.toml` gives it and
returns a finding: whether the claim holds, the numbers that say so, and what its failure means.
Printed numbers are rounded, so a claim fails only where no unrounded values could save it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench.paper import published
from bench.paper.published import HALF_DIGIT, PublishedScore
from bench.paper.scale import Finding
from bench.paper.table_checks import (
    FUZZ,
    IMPOSSIBLE,
    macro_recalls,
    possible_f1,
    whole_nights,
)

_COUNTEREXAMPLE = "by a counterexample"


def finding_of(check: Mapping[str, Any]) -> Finding:
    """Return the finding of a check by its name and arguments."""
    arguments = dict(check)
    return CHECKS[arguments.pop("name")](**arguments)


def all_of(checks: Sequence[Mapping[str, Any]]) -> Finding:
    """Test several parts of a claim; the evidence is that of the failing parts, else that of all."""
    found = [finding_of(check) for check in checks]
    failing = [finding for finding in found if not finding.holds]
    evidence = "; ".join(finding.evidence for finding in failing or found)
    return Finding(not failing, evidence, failing[0].failure) if failing else Finding(True, evidence)


def best_in_rows(datasets: Sequence[str], metrics: Sequence[str] = published.METRICS) -> Finding:
    """Test that MedMamba's mean is above every other model's in each row (dataset, metric)."""
    lost = []
    for dataset in datasets:
        for metric in metrics:
            ours, rival = _score(dataset, "medmamba", metric), strongest_rival(dataset, metric)
            if ours.mean <= rival.mean:
                lost.append(f"{dataset} {metric} {ours.mean:.2f} < {rival.mean:.2f} ({rival.model})")
    n_rows = len(datasets) * len(metrics)
    won = f"best in {n_rows - len(lost)} of {n_rows} rows"
    return Finding(not lost, f"{won}; not in {'; '.join(lost)}" if lost else won)


def strongest_baseline(dataset: str, metric: str, value: float, model: str | None = None) -> Finding:
    """Test that the highest baseline of a row has the stated value and, if the text names a model, is that model."""
    rival = strongest_rival(dataset, metric)
    named_right = model in (None, rival.model)
    stated = f"{value:.2f}" if model is None else f"{model}'s {value:.2f}"
    return Finding(
        named_right and abs(rival.mean - value) < HALF_DIGIT,
        f"the strongest baseline is {rival.model} with {rival.mean:.2f}, the text has {stated}",
    )


def margin(dataset: str, metric: str, rival: str, value: float, digits: int) -> Finding:
    """Test that MedMamba's lead over one rival is the printed one."""
    lead = _score(dataset, "medmamba", metric).mean - _score(dataset, rival, metric).mean
    return Finding(_rounds_to(lead, value, digits, 2 * HALF_DIGIT), f"the tables give {lead:+.2f}")


def larger_lead(dataset: str, than: str, metric: str) -> Finding:
    """Test that MedMamba's lead over the strongest rival is larger on one dataset than on another."""
    first, second = (
        _score(name, "medmamba", metric).mean - strongest_rival(name, metric).mean for name in (dataset, than)
    )
    return Finding(first > second, f"{first:+.2f} on {dataset}, {second:+.2f} on {than}")


def equals_table(cell: Sequence[str], value: float, digits: int) -> Finding:
    """Test that a number of the text is the rounded table cell (dataset, model, metric)."""
    dataset, model, metric = cell
    score = _score(dataset, model, metric)
    return Finding(
        _rounds_to(score.mean, value, digits, HALF_DIGIT),
        f"the text has {value:.{digits}f}, {score.place} has {score.mean:.2f}",
    )


def harder(dataset: str, than: str, metrics: Sequence[str]) -> Finding:
    """Test that every model scores lower on `dataset` than on the other one, in each of the metrics."""
    pairs = [
        (_score(dataset, model, metric).mean, _score(than, model, metric).mean)
        for metric in metrics
        for model in published.models()
    ]
    n_lower = sum(first < second for first, second in pairs)
    return Finding(
        n_lower == len(pairs),
        f"{n_lower} of {len(pairs)} scores ({', '.join(metrics)}) are lower on {dataset} than on {than}",
    )


def hardest(dataset: str, metrics: Sequence[str]) -> Finding:
    """Test that every model scores lowest on `dataset`, in each of the metrics."""
    others = [row.dataset for row in published.dataset_summary() if row.dataset != dataset]
    rows = [
        (metric, model, other)
        for metric in metrics
        for model in published.models()
        for other in others
        if _score(other, model, metric).mean <= _score(dataset, model, metric).mean
    ]
    lower = "; ".join(f"{model} {metric} lower on {other}" for metric, model, other in rows)
    return Finding(not rows, lower or f"every model's {', '.join(metrics)} is lowest on {dataset}")


def loses(variant: str, metric: str, mean: float, loss: float) -> Finding:
    """Test that a reduced model has the stated mean and loss against the full one."""
    full, reduced = _ablated("medmamba", metric), _ablated(variant, metric)
    lost = full - reduced
    holds = abs(reduced - mean) < HALF_DIGIT and _rounds_to(lost, loss, 2, 2 * HALF_DIGIT)
    return Finding(holds, f"the ablation table has {full:.2f} and {reduced:.2f}: {lost:.2f} lost")


def full_model_best(variants: Sequence[str]) -> Finding:
    """Test that the full model is above each reduced model in each metric; reports the smallest loss."""
    losses = {
        (variant, metric): _ablated("medmamba", metric) - _ablated(variant, metric)
        for variant in variants
        for metric in published.METRICS
    }
    (variant, metric), smallest = min(losses.items(), key=lambda item: item[1])
    stds = {(cell.variant, cell.metric): cell.std for cell in published.ablation()}
    return Finding(
        smallest > 0,
        f"{sum(loss > 0 for loss in losses.values())} of {len(losses)} cells are lower; the smallest loss is "
        f"{smallest:.2f} ({variant} {metric}; std over seeds {stds['medmamba', metric]:.2f})",
    )


def loss_order(variants: Sequence[str]) -> Finding:
    """Test that the variants' losses fall in the given order, in each metric."""
    wrong = []
    for metric in published.METRICS:
        lost = [_ablated("medmamba", metric) - _ablated(variant, metric) for variant in variants]
        if lost != sorted(lost, reverse=True):
            wrong.append(metric)
    return Finding(
        not wrong, f"another order in {', '.join(wrong)}" if wrong else "this order in all metrics"
    )


def more_centralized(reference: str) -> Finding:
    """Test that each medical dataset's SCI and DIC are above the reference dataset's."""
    rows = published.centralization()
    base = next(row for row in rows if row.dataset == reference)
    medical = [row for row in rows if row.domain == "medical"]
    sci, dic = min(row.sci for row in medical), min(row.dic for row in medical)
    return Finding(
        sci > base.sci and dic > base.dic,
        f"lowest of {len(medical)} medical datasets: SCI {sci:.2f}, DIC {dic:.2f}; "
        f"{reference}: {base.sci:.2f}, {base.dic:.2f}",
    )


def ratio(quantity: str, larger: str, smaller: Sequence[str], value: float, digits: int) -> Finding:
    """Test that the ratio of two printed quantities can be the stated one, rounded to `digits` decimals.

    The printed quantities have one decimal: each stands for an interval, and so does their
    ratio. Where several models share a printed range the interval spans all of them.
    """
    rows = {row.model: row for row in published.efficiency() if row.quantity == quantity}
    high_low = [(rows[model].high + 0.05, rows[model].low - 0.05) for model in smaller]
    lowest = (rows[larger].low - 0.05) / max(high for high, _ in high_low)
    highest = (rows[larger].high + 0.05) / min(low for _, low in high_low)
    half = half_digit(digits)
    return Finding(
        lowest - FUZZ <= value + half and value - half <= highest + FUZZ,
        f"the printed {quantity} of {larger} and {', '.join(smaller)} give {lowest:.2f} to {highest:.2f}",
    )


def summary_counts(n_datasets: int, n_modalities: int) -> Finding:
    """Test that the summary table has so many datasets of so many modalities."""
    rows = published.dataset_summary()
    found = (len(rows), len({row.modality for row in rows}))
    return Finding(found == (n_datasets, n_modalities), f"the summary table has {found[0]} and {found[1]}")


def summary_agrees(dataset: str, **counts: int) -> Finding:
    """Test that the text's counts are those of the summary table."""
    row = next(row for row in published.dataset_summary() if row.dataset == dataset)
    wrong = [f"{name} is {getattr(row, name)}" for name in counts if getattr(row, name) != counts[name]]
    return Finding(
        not wrong, f"in the summary table {'; '.join(wrong)}" if wrong else "as in the summary table"
    )


def configuration(shared: Sequence[str], adapted: Sequence[str]) -> Finding:
    """Test which hyperparameters of the configuration table are the same for all datasets and which differ."""
    rows = published.model_configuration()
    differing = [name for name in (*shared, *adapted) if len({getattr(row, name) for row in rows}) > 1]
    return Finding(differing == list(adapted), f"differing between datasets: {', '.join(differing)}")


def product(factors: Sequence[float], result: float) -> Finding:
    """Test that the factors multiply to the result."""
    found = math.prod(factors)
    numbers = " x ".join(f"{factor:g}" for factor in factors)
    return Finding(math.isclose(found, result), f"{numbers} = {found:g}, stated {result:g}", IMPOSSIBLE)


def total(parts: Sequence[float], whole: float) -> Finding:
    """Test that the parts add up to the whole."""
    numbers = " + ".join(f"{part:g}" for part in parts)
    return Finding(
        math.isclose(sum(parts), whole), f"{numbers} = {sum(parts):g}, stated {whole:g}", IMPOSSIBLE
    )


def whole_trials(n_windows: int, trial: int, window: int, step: int) -> Finding:
    """Test that the windows fill a whole number of trials, each cut into the same number of windows."""
    per_trial = (trial - window) // step + 1
    n_trials, rest = divmod(n_windows, per_trial)
    numbers = f"{per_trial} windows a trial, {n_trials} trials and {rest} windows over"
    return Finding(rest == 0, numbers, IMPOSSIBLE)


def token_counts(n_times: int, strides: Sequence[int], counts: Sequence[int]) -> Finding:
    """Test that windows of `n_times` steps give floor((L - s) / s) + 1 tokens at stride s."""
    found = [_n_tokens(n_times, stride) for stride in strides]
    return Finding(found == list(counts), f"{n_times} steps give {found}", IMPOSSIBLE)


def added_scale(strides: Sequence[int], added: int) -> Finding:
    """Test that one more stride within the range lowers the worst-case mismatch, half the largest log gap."""
    before, after = _worst_mismatch(strides), _worst_mismatch([*strides, added])
    return Finding(
        after < before,
        f"strides {list(strides)} give {before:.3f}, with {added} added still {after:.3f}: "
        "only a scale inside the largest gap lowers it",
        _COUNTEREXAMPLE,
    )


def beats_single_scale(strides: Sequence[int]) -> Finding:
    """Test that the worst-case mismatch over the strides' range is below that of any one stride.

    The best single stride lies in the middle of the range on the log axis: half the range away from both ends.
    """
    several, single = _worst_mismatch(strides), math.log(max(strides) / min(strides)) / 2
    return Finding(
        several < single,
        f"strides {list(strides)} give {several:.3f}, the best single stride {single:.3f}",
        _COUNTEREXAMPLE,
    )


def token_bound(n_times: int, strides: Sequence[int], slack: int) -> Finding:
    """Test that no stride s gives more tokens than L / s plus the slack."""
    above = [stride for stride in strides if _n_tokens(n_times, stride) > n_times / stride + slack]
    numbers = f"exceeded at strides {above}" if above else f"holds at strides {list(strides)}"
    return Finding(not above, numbers, IMPOSSIBLE)


def named(stated: int, names: Sequence[str]) -> Finding:
    """Test that the number of named things is the stated number."""
    return Finding(len(names) == stated, f"{len(names)} are named: {', '.join(names)}; stated {stated}")


def descending(values: Sequence[float]) -> Finding:
    """Test that the values fall in the given order."""
    numbers = " > ".join(f"{value:g}" for value in values)
    return Finding(list(values) == sorted(values, reverse=True), f"printed: {numbers}")


CHECKS: dict[str, Callable[..., Finding]] = {
    check.__name__: check
    for check in (
        all_of,
        best_in_rows,
        strongest_baseline,
        margin,
        larger_lead,
        equals_table,
        possible_f1,
        macro_recalls,
        whole_nights,
        harder,
        hardest,
        loses,
        full_model_best,
        loss_order,
        more_centralized,
        ratio,
        summary_counts,
        summary_agrees,
        configuration,
        product,
        total,
        whole_trials,
        token_counts,
        added_scale,
        beats_single_scale,
        token_bound,
        named,
        descending,
    )
}
"""The checks that `claims.toml` may name."""


def half_digit(digits: int) -> float:
    """Return half of the last digit of a number printed with so many decimals."""
    return 0.5 * 10**-digits


def strongest_rival(dataset: str, metric: str) -> PublishedScore:
    """Return the best published score of a row that is not MedMamba's."""
    rivals = (_score(dataset, model, metric) for model in published.models() if model != "medmamba")
    return max(rivals, key=lambda score: score.mean)


def _score(dataset: str, model: str, metric: str) -> PublishedScore:
    score = published.lookup(dataset, model, metric)
    if score is None:
        raise LookupError(
            f"claims.toml: the paper has no {metric} of {model} on {dataset}; name a printed cell"
        )
    return score


def _ablated(variant: str, metric: str) -> float:
    return next(
        cell.mean for cell in published.ablation() if (cell.variant, cell.metric) == (variant, metric)
    )


def _rounds_to(exact: float, stated: float, digits: int, slack: float) -> bool:
    """Whether a value known within `slack` can round to the stated one with `digits` decimals."""
    return abs(exact - stated) <= half_digit(digits) + slack + FUZZ


def _n_tokens(n_times: int, stride: int) -> int:
    return (n_times - stride) // stride + 1


def _worst_mismatch(strides: Iterable[int]) -> float:
    ordered = sorted(strides)
    return max(math.log(after / before) for before, after in pairwise(ordered)) / 2
