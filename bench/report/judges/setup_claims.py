"""Verdicts on the paper's configuration and training protocol, from the settings that records of MedMamba keep.

Settings that a preset or a user changed decide nothing, since they do not try to be the paper's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.paper.claim_checks import Verdict
from bench.paper.claims import Claim, Ruling
from bench.paper.names import OURS, short_name
from bench.paper.published import ABLATION_DATASET
from bench.paper.rulings import comparison_ruling, unless_void
from bench.results.record import Record
from bench.studies.aggregate import Group
from bench.studies.suite import Suite

FEW_PARAMETERS = 0.05
"""Our choice: a modest number of parameters is at most 5 percent of the full model's."""


class SetupJudge:
    """Judges hyperparameters, protocol, seeds, checkpoints and the parameters that channel mixing adds."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._rules: dict[str, Callable[..., Ruling | None]] = {
            "hyperparameters": self._hyperparameters,
            "training": self._training,
            "best_checkpoint": self._best_checkpoint,
            "seeds": self._seeds,
            "adds_parameters": self._adds_parameters,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where MedMamba was not run on any of the claim's datasets."""
        about = dict(claim.about)
        return self._rules[about.pop("rule")](**about)

    def _hyperparameters(self, datasets: Sequence[str], values: Mapping[str, Any]) -> Ruling | None:
        return self._settings("hyperparameters", datasets, values)

    def _training(self, datasets: Sequence[str], values: Mapping[str, Any]) -> Ruling | None:
        return self._settings("training", datasets, values)

    def _settings(self, part: str, datasets: Sequence[str], values: Mapping[str, Any]) -> Ruling | None:
        """Compare the settings of the run with the stated ones, on each dataset."""
        groups = self._groups(datasets)
        wrong = [
            f"{name} {used.get(name)} on {short_name(dataset)}"
            for dataset, group in groups.items()
            if (used := group.records[0].settings[part])
            for name, value in values.items()
            if used.get(name) != value
        ]
        stated = ", ".join(f"{name} {value}" for name, value in values.items())
        return self._ruled(
            groups,
            datasets,
            f"run otherwise: {'; '.join(wrong)}" if wrong else f"run with {stated}",
            not wrong,
        )

    def _best_checkpoint(self, datasets: Sequence[str]) -> Ruling | None:
        groups = self._groups(datasets)
        done = [record for group in groups.values() for record in group.records if record.is_done]
        best = sum(map(_tests_the_best, done))
        text = f"the tested epoch has the highest validation F1 in {best} of {len(done)} cells"
        return self._ruled(groups, datasets, text, best == len(done))

    def _seeds(self, datasets: Sequence[str], seeds: Sequence[int]) -> Ruling | None:
        """Test whether all seeds were run; missing seeds do not contradict the claim."""
        groups = self._groups(datasets)
        lacking = [name for name, group in groups.items() if not set(seeds) <= set(group.seeds)]
        text = f"seeds {', '.join(map(str, seeds))} in one split of each dataset"
        if lacking:
            return Ruling(Verdict.NEEDS_RECORDS, f"not all of {text}: {', '.join(lacking)}")
        return self._ruled(groups, datasets, text, True)

    def _adds_parameters(self, without: str) -> Ruling | None:
        study = self.suite.study(ABLATION_DATASET)
        groups = {group.model: group for group in study.comparison.groups} if study else {}
        full, reduced = (_total(groups[name]) if name in groups else None for name in (OURS, without))
        if study is None or full is None or reduced is None:
            return None
        share = (full - reduced) / full
        text = (
            f"{full - reduced:,} of {full:,} parameters, {100 * share:.2f} percent; modest, by us: at most "
            f"{100 * FEW_PARAMETERS:g}"
        )
        return self._ruled(
            {ABLATION_DATASET: groups[OURS]}, [ABLATION_DATASET], text, share <= FEW_PARAMETERS
        )

    def _groups(self, datasets: Sequence[str]) -> dict[str, Group]:
        studies = {name: self.suite.study(name) for name in datasets}
        return {name: study.groups[OURS] for name, study in studies.items() if study and OURS in study.groups}

    def _ruled(
        self, groups: Mapping[str, Group], datasets: Sequence[str], text: str, holds: bool
    ) -> Ruling | None:
        """Rule if MedMamba was run on every dataset without changed settings; else return the reasons against it."""
        if not groups:
            return None
        changes = {
            study.comparison.condition.changes for study in self.suite.studies if study.dataset in groups
        }
        reasons = [f"changed {change}" for change in sorted(changes - {""})]
        reasons += [f"{short_name(name)} not run" for name in datasets if name not in groups]
        return unless_void(comparison_ruling(holds, text), "; ".join(reasons))


def _tests_the_best(record: Record) -> bool:
    """Whether the tested epoch has the highest validation F1 of the history."""
    by_epoch = {epoch.epoch: epoch.val_f1 for epoch in record.history}
    return by_epoch.get(record.best_epoch or 0) == max(by_epoch.values(), default=None)


def _total(group: Group) -> int | None:
    return next((record.parameters.total for record in group.records if record.parameters is not None), None)
