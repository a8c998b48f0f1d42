"""Verdicts on the paper's claims of scores in its main tables, from records of cells.

See `rulings.py` for the bounds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bench.paper import published
from bench.paper.claim_checks import Verdict, half_digit, strongest_rival
from bench.paper.claims import Claim, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import comparison_ruling, effect_ruling, within_stds
from bench.studies.measured_scores import comparable_mean, score_ruling, seed_difference
from bench.studies.suite import Suite

_Row = Mapping[str, float]
"""Measured means of all models of the paper in percent, for one dataset and metric."""


class CellJudge:
    """Judges claims about scores, from the records of one suite."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._rules: dict[str, Callable[..., Ruling | None]] = {
            "equals_table": self._equals_table,
            "best_in_rows": self._best_in_rows,
            "strongest_baseline": self._strongest_baseline,
            "margin": self._margin,
            "larger_lead": self._larger_lead,
            "harder": self._harder,
            "hardest": self._hardest,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the records do not touch the claim."""
        if {"dataset", "model", "metric", "mean", "std"} <= claim.about.keys():
            return self._score(**claim.about)
        arguments = dict(claim.check)
        rule = self._rules.get(arguments.pop("name", ""))
        return rule(**arguments) if rule else None

    def _score(self, dataset: str, model: str, metric: str, mean: float, std: float) -> Ruling | None:
        return score_ruling(self.suite.study(dataset), model, metric, mean, std)

    def _equals_table(self, cell: Sequence[str], value: float, digits: int) -> Ruling | None:
        dataset, model, metric = cell
        printed = published.lookup(dataset, model, metric)
        if printed is None:
            return None
        return score_ruling(self.suite.study(dataset), model, metric, value, printed.std, half_digit(digits))

    def _best_in_rows(
        self, datasets: Sequence[str], metrics: Sequence[str] = published.METRICS
    ) -> Ruling | None:
        lost, n_clear = [], 0
        rows = [(dataset, metric) for dataset in datasets for metric in metrics]
        for dataset, metric in rows:
            lead = self._lead(dataset, metric)
            if lead is None:
                return None
            n_clear += lead.mean > lead.std
            if lead.mean <= 0:
                lost.append(f"{dataset} {metric} {lead.mean:+.2f} ({lead.rival})")
        evidence = (
            f"measured best in {len(rows) - len(lost)} of {len(rows)} rows, in {n_clear} by more than one deviation "
            "of the lead over seeds"
        )
        return comparison_ruling(not lost, f"{evidence}; not in {'; '.join(lost)}" if lost else evidence)

    def _strongest_baseline(
        self, dataset: str, metric: str, value: float, model: str | None = None
    ) -> Ruling | None:
        row = self._row(dataset, metric)
        if row is None:
            return None
        rival = _strongest(row)
        ruling = within_stds(row[rival], value, strongest_rival(dataset, metric).std)
        verdict = Verdict.CONTRADICTED if model not in (None, rival) else ruling.verdict
        return Ruling(verdict, f"strongest baseline measured is {rival}; {ruling.evidence}")

    def _larger_lead(self, dataset: str, than: str, metric: str) -> Ruling | None:
        first, second = self._lead(dataset, metric), self._lead(than, metric)
        if first is None or second is None:
            return None
        evidence = f"measured lead {first.mean:+.2f} on {dataset}, {second.mean:+.2f} on {than}"
        return comparison_ruling(first.mean > second.mean, evidence)

    def _margin(self, dataset: str, metric: str, rival: str, value: float, digits: int) -> Ruling | None:
        lead = seed_difference(self.suite.study(dataset), OURS, rival, metric)
        return None if lead is None else effect_ruling(lead[0], value, lead[1], half_digit(digits))

    def _harder(self, dataset: str, than: str, metrics: Sequence[str]) -> Ruling | None:
        pairs = [(self._row(dataset, metric), self._row(than, metric)) for metric in metrics]
        if any(first is None or second is None for first, second in pairs):
            return None
        lower = [first[name] < second[name] for first, second in pairs if first and second for name in first]
        return comparison_ruling(all(lower), f"measured lower in {sum(lower)} of {len(lower)} scores")

    def _hardest(self, dataset: str, metrics: Sequence[str]) -> Ruling | None:
        others = [row.dataset for row in published.dataset_summary() if row.dataset != dataset]
        rulings = [self._harder(dataset, other, metrics) for other in others]
        if any(ruling is None for ruling in rulings):
            return None
        failed = [
            other for other, ruling in zip(others, rulings, strict=True) if ruling and not _holds(ruling)
        ]
        evidence = (
            f"not lower for every model than {', '.join(failed)}" if failed else "lowest for every model"
        )
        return comparison_ruling(not failed, f"measured: {evidence}")

    def _lead(self, dataset: str, metric: str) -> "_Lead | None":
        """Return the lead over the strongest rival measured; None where a model is missing or void."""
        row = self._row(dataset, metric)
        if row is None:
            return None
        rival = _strongest(row)
        paired = seed_difference(self.suite.study(dataset), OURS, rival, metric)
        return None if paired is None else _Lead(rival, *paired)

    def _row(self, dataset: str, metric: str, models: Sequence[str] | None = None) -> _Row | None:
        """Return the means of the given models (default: all of the paper); None if a mean is missing or void."""
        row = {
            model: comparable_mean(self.suite.study(dataset), model, metric)
            for model in models or published.models()
        }
        known = {model: mean for model, mean in row.items() if mean is not None}
        return known if len(known) == len(row) else None


class _Lead(NamedTuple):
    """The strongest rival, and mean and deviation over seeds of the lead over it, in percentage points."""

    rival: str
    mean: float
    std: float


def _strongest(row: _Row) -> str:
    return max((name for name in row if name != OURS), key=row.__getitem__)


def _holds(ruling: Ruling) -> bool:
    return ruling.verdict is Verdict.REPRODUCED
