"""The comparisons that stand side by side in a report: one per dataset, all of one recipe, with what they lack.

Three rules keep averages over different cells apart:

- Seeds. The seeds of a study are those that more than half of its models have a record of, whatever its outcome, and
  seeds of the paper that exactly half have. All models are averaged over these; records of further seeds are left out
  and named. Reduced models of the ablation have no vote.
- Completeness. A model is complete when it has scores of all seeds of the study. Only complete averages are marked,
  ranked or compared; for the rest the reports say what is missing.
- Ranks. Models are ranked over datasets on which all were trained by one protocol and all of them are complete. Of
  all such choices the one with the most cells (models times datasets) is taken; models and datasets outside it are
  named (`ranks.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bench.paper.names import PAPER_SEEDS, ablation_variants, in_paper_order, in_report_order, short_name
from bench.results.record import Record
from bench.stats.bootstrap import FEW_UNITS
from bench.studies import kinds
from bench.studies.aggregate import Comparison, Group
from bench.studies.comparability import void_reason
from bench.studies.protocols import protocols


@dataclass(frozen=True)
class Study:
    """All models on one dataset under one condition; `everything` holds their records of further seeds too."""

    everything: Comparison

    @cached_property
    def comparison(self) -> Comparison:
        """The records of the study's seeds."""
        groups = tuple(
            replace(
                group, records=tuple(record for record in group.records if record.cell.seed in self.seeds)
            )
            for group in self.everything.groups
        )
        return replace(self.everything, groups=tuple(group for group in groups if group.records))

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.comparison.condition.dataset

    @property
    def label(self) -> str:
        """The dataset's short name with its classes, and the kind of data if it is not the whole dataset."""
        data = self.record.data
        return f"{short_name(self.dataset)} ({len(data.class_names)} classes{kinds.suffix(data)})"

    @property
    def record(self) -> Record:
        """Any record of the study, for the data and split that all share."""
        return self.everything.records[0]

    @property
    def kind(self) -> str:
        """Kind of the data: whole, converted, excerpt, own or simulated."""
        return self.record.data.kind

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that models are averaged over, by the module's first rule."""
        groups = self.everything.groups
        voters = [group for group in groups if group.model not in ablation_variants()] or groups
        votes = Counter(record.cell.seed for group in voters for record in group.records)
        shared = [
            seed
            for seed, n_votes in votes.items()
            if 2 * n_votes > len(voters) or (2 * n_votes == len(voters) and seed in PAPER_SEEDS)
        ]
        return tuple(sorted(shared or votes))

    @cached_property
    def further_seeds(self) -> dict[str, tuple[int, ...]]:
        """The seeds of each model that are left out, by model; only models that have any."""
        seeds = {
            group.model: tuple(
                record.cell.seed for record in group.records if record.cell.seed not in self.seeds
            )
            for group in self.everything.groups
        }
        return {model: found for model, found in seeds.items() if found}

    @cached_property
    def groups(self) -> dict[str, Group]:
        """The models compared, without variants of the ablation, in the order of the paper."""
        groups = {group.model: group for group in self.comparison.groups}
        for group in self.everything.groups:
            # A model with further seeds only is shown as lacking all seeds of the study.
            groups.setdefault(group.model, replace(group, records=()))
        return {name: groups[name] for name in in_paper_order(groups) if name not in ablation_variants()}

    @property
    def test_is_small(self) -> bool:
        """Whether so few subjects were tested that differences are mostly chance."""
        return self.record.data.parts["test"].n_subjects < FEW_UNITS

    @property
    def has_several_seeds(self) -> bool:
        """Whether models are averaged over seeds: from one seed nothing is best."""
        return len(self.seeds) > 1

    @cached_property
    def has_one_protocol(self) -> bool:
        """Whether all models were trained alike: otherwise scores compare protocols too, and rank no models."""
        return len(protocols({self.dataset: self.groups.values()})) < 2

    @property
    def may_rank(self) -> bool:
        """Whether a model can be marked best at all."""
        return self.has_several_seeds and self.has_one_protocol

    def is_complete(self, model: str) -> bool:
        """Whether a model has scores of all seeds."""
        return model in self.groups and self.groups[model].seeds == self.seeds

    def void(self, model: str) -> str:
        """Explain why a model's scores may not be compared with the paper's; empty if they may."""
        groups = {group.model: group for group in self.comparison.groups}
        return void_reason(
            data=self.record.data,
            recipe=self.comparison.condition.recipe,
            changes=self.comparison.condition.changes,
            seeds=groups[model].seeds if model in groups else (),
        )

    def gap(self, model: str) -> str:
        """Describe which seeds a model lacks and why; empty if it lacks none."""
        if model not in self.groups:
            return f"{model} on {short_name(self.dataset)}: not run"
        return gap_of(self.groups[model], self.seeds, short_name(self.dataset))


@dataclass(frozen=True)
class Suite:
    """The studies of one recipe, one per dataset; comparisons under changed settings are left to their own tables."""

    recipe: str
    studies: tuple[Study, ...]
    n_left_out: int

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Every model with a record, in the order of the paper."""
        return in_paper_order({model for study in self.studies for model in study.groups})

    @property
    def has_one_protocol(self) -> bool:
        """Whether on every dataset all models were trained alike."""
        return all(study.has_one_protocol for study in self.studies)

    def study(self, dataset: str) -> Study | None:
        """Return the study of a dataset, or None if it was not run."""
        return next((study for study in self.studies if study.dataset == dataset), None)


def make_suites(comparisons: Sequence[Comparison]) -> list[Suite]:
    """Sort comparisons into suites, one for each recipe.

    Of several comparisons of one dataset, the suite takes the one on the most real data, then with the fewest
    changed settings, and then with the most finished cells.
    """
    by_recipe: dict[str, dict[str, list[Comparison]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        by_recipe[comparison.condition.recipe][comparison.condition.dataset].append(comparison)
    suites = []
    for recipe, datasets in sorted(by_recipe.items()):
        # Reduced models alone make no study: another comparison of their dataset may have the full models.
        full = {
            name: [dataset for dataset in datasets[name] if Study(dataset).groups]
            for name in in_report_order(datasets)
        }
        studies = tuple(Study(min(found, key=_preference)) for found in full.values() if found)
        suites.append(Suite(recipe, studies, sum(map(len, datasets.values())) - len(studies)))
    return [suite for suite in suites if suite.studies]


def gap_of(group: Group, seeds: Sequence[int], where: str) -> str:
    """Describe which seeds of a group have no scores and why; empty if all have."""
    outcomes = {record.cell.seed: record.outcome for record in group.failed}
    missing = [f"seed {seed} {outcomes.get(seed, 'not run')}" for seed in seeds if seed not in group.seeds]
    return f"{group.model} on {where}: {', '.join(missing)}" if missing else ""


def _preference(comparison: Comparison) -> tuple[int, int, int, str]:
    record, changes = comparison.records[0], comparison.condition.changes
    n_done = sum(len(group.seeds) for group in comparison.groups)
    n_changes = len(changes.split(", ")) if changes else 0
    return kinds.ORDER.index(record.data.kind), n_changes, -n_done, changes
