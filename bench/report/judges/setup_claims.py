"""How the paper's configuration and training protocol are followed, from the settings that records keep.

Our settings are copied from the paper, so that they cannot contradict it: such claims are followed here, exceptions
named. Only the number of parameters is a fact of its own. Settings that a preset or a user changed decide nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.paper.claims import Claim, needs
from bench.paper.names import OURS, short_name
from bench.paper.published import ABLATION_DATASET
from bench.paper.scale import Ruling, Verdict
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
            "batches": self._batches,
            "one_protocol": self._one_protocol,
            "best_checkpoint": self._best_checkpoint,
            "seeds": self._seeds,
            "adds_parameters": self._adds_parameters,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where MedMamba was not run on any of the claim's datasets."""
        about = dict(claim.about)
        ruling = self._rules[about.pop("rule")](**about)
        if ruling and ruling.verdict is Verdict.FOLLOWED:
            return Ruling(ruling.verdict, f"{ruling.evidence}; {needs()[claim.needs].followed}")
        return ruling

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
        exceptions = f", except {'; '.join(wrong)}" if wrong else ""
        return self._followed(groups, datasets, f"run with {stated}{exceptions}")

    def _batches(self, sizes: Mapping[str, int]) -> Ruling | None:
        """Compare batches; the norm of the patch embedding is over the windows that are in memory at once."""
        groups = self._groups(list(sizes))
        exceptions = []
        for dataset, group in groups.items():
            training = group.records[0].settings["training"]
            batch, at_once = training["batch_size"], training["micro_batch_size"]
            if batch != sizes[dataset]:
                exceptions.append(f"{batch} on {short_name(dataset)}")
            if at_once and at_once < batch:
                exceptions.append(
                    f"that batch normalisation on {short_name(dataset)} is over {at_once} windows, not {batch}: the "
                    f"batch is accumulated"
                )
        text = f"run with the stated batches{', except ' if exceptions else ''}{' and '.join(exceptions)}"
        return self._followed(groups, list(sizes), text)

    def _one_protocol(self) -> Ruling | None:
        """Compare MedMamba's training settings with those of every other model of its study."""
        groups = self._groups([study.dataset for study in self.suite.studies])
        texts = []
        for dataset, group in groups.items():
            study = self.suite.study(dataset)
            others = (
                {} if study is None else {n: g for n, g in study.groups.items() if n != OURS and g.records}
            )
            own = _protocol(group)
            n_alike = sum(_protocol(other) == own for other in others.values())
            texts.append(f"{n_alike} of {len(others)} other models as MedMamba on {short_name(dataset)}")
        return self._followed(groups, list(groups), f"trained alike: {', '.join(texts)}")

    def _best_checkpoint(self, datasets: Sequence[str]) -> Ruling | None:
        groups = self._groups(datasets)
        done = [record for group in groups.values() for record in group.records if record.is_done]
        best = sum(map(_tests_the_best, done))
        return self._followed(
            groups,
            datasets,
            f"the tested epoch has the highest validation F1 in {best} of {len(done)} cells",
        )

    def _seeds(self, datasets: Sequence[str], seeds: Sequence[int]) -> Ruling | None:
        """Tell whether all seeds were run; missing seeds do not contradict the claim."""
        groups = self._groups(datasets)
        lacking = [name for name, group in groups.items() if not set(seeds) <= set(group.seeds)]
        text = f"seeds {', '.join(map(str, seeds))} in one split of each dataset"
        if lacking:
            return Ruling(Verdict.UNDECIDED, f"not all of {text}: {', '.join(map(short_name, lacking))}")
        return self._followed(groups, datasets, text)

    def _adds_parameters(self, without: str) -> Ruling | None:
        study = self.suite.study(ABLATION_DATASET)
        groups = {group.model: group for group in study.comparison.groups} if study else {}
        full, reduced = (_total(groups[name]) if name in groups else None for name in (OURS, without))
        if study is None or full is None or reduced is None:
            return None
        share = (full - reduced) / full
        text = (
            f"{full - reduced:,} of {full:,} parameters, {100 * share:.2f} percent; modest, by our definition: at most "
            f"{100 * FEW_PARAMETERS:g}"
        )
        ruling = Ruling(Verdict.of(share <= FEW_PARAMETERS), text)
        return ruling.unless(self._against({ABLATION_DATASET: groups[OURS]}, [ABLATION_DATASET]))

    def _groups(self, datasets: Sequence[str]) -> dict[str, Group]:
        studies = {name: self.suite.study(name) for name in datasets}
        return {name: study.groups[OURS] for name, study in studies.items() if study and OURS in study.groups}

    def _followed(self, groups: Mapping[str, Group], datasets: Sequence[str], text: str) -> Ruling | None:
        """Return what was done on every dataset; undecided where it was not run or under changed settings."""
        if not groups:
            return None
        return Ruling(Verdict.FOLLOWED, text).unless(self._against(groups, datasets))

    def _against(self, groups: Mapping[str, Group], datasets: Sequence[str]) -> str:
        """Return the reasons why the groups say nothing of the paper's settings on the datasets."""
        changes = {
            study.comparison.condition.changes for study in self.suite.studies if study.dataset in groups
        }
        reasons = [f"changed {change}" for change in sorted(changes - {""})]
        reasons += [f"{short_name(name)} not run" for name in datasets if name not in groups]
        return "; ".join(reasons)


def _protocol(group: Group) -> dict[str, Any]:
    """Return a model's training settings, but for how many windows are in memory at once."""
    training = group.records[0].settings["training"]
    return {name: value for name, value in training.items() if name != "micro_batch_size"}


def _tests_the_best(record: Record) -> bool:
    """Whether the tested epoch has the highest validation F1 of the history."""
    by_epoch = {epoch.epoch: epoch.val_f1 for epoch in record.history}
    return by_epoch.get(record.best_epoch or 0) == max(by_epoch.values(), default=None)


def _total(group: Group) -> int | None:
    return next((record.parameters.total for record in group.records if record.parameters is not None), None)
