"""The box before all numbers of a report: their data, seeds, subjects, machines and failures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.datasets.provenance import share_text
from bench.paper import published
from bench.paper.names import PAPER_SEEDS, ablation_variants, short_name
from bench.results.record import Environment, Record
from bench.studies.caption import devices, numbers
from bench.studies.suite import Study, Suite, gap_of


@dataclass(frozen=True)
class Fact:
    """One line of the box; `is_warning` marks what a reader must not miss."""

    label: str
    text: str
    is_warning: bool = False


def facts(
    records: Sequence[Record],
    suites: Sequence[Suite],
    measured: Sequence[Environment],
    damaged: Sequence[str],
) -> list[Fact]:
    """Return the lines of the box, in the order in which a reviewer asks.

    `measured` has the environments of efficiency and scaling measurements, `damaged` the unusable files and why.
    """
    studies = [study for suite in suites for study in suite.studies]
    return [
        *_data(studies),
        Fact("Seeds", numbers(sorted({record.cell.seed for record in records}))),
        _subjects(studies),
        *coverage(suites),
        *_devices(records, measured),
        *_failures(records),
        *_damage(damaged),
    ]


def _data(studies: Sequence[Study]) -> list[Fact]:
    kinds = {
        "whole": "Real data, whole",
        "converted": "Real data, converted",
        "excerpt": "EXCERPT of real data",
        "own": "A user's OWN data",
        "simulated": "SIMULATED data",
    }
    meaning = {
        "whole": "",
        "converted": ": not the publisher's own files",
        "excerpt": ": scores are not comparable with published ones",
        "own": ": nothing is published to compare the scores with",
        "simulated": ": scores are not interpretable",
    }
    lines = []
    for kind, label in kinds.items():
        names = dict.fromkeys(
            f"{short_name(study.dataset)}{share_text(study.record.data.share)}"
            for study in studies
            if study.record.data.kind == kind
        )
        if names:
            lines.append(Fact(label, ", ".join(names) + meaning[kind], is_warning=kind != "whole"))
    return lines


def _subjects(studies: Sequence[Study]) -> Fact:
    counts = {
        (short_name(study.dataset), study.record.data.parts["test"].n_subjects): None for study in studies
    }
    few = [short_name(study.dataset) for study in studies if study.test_is_small]
    text = ", ".join(f"{name} {n_subjects}" for name, n_subjects in counts)
    if few:
        names = ", ".join(dict.fromkeys(few))
        text += f". Fewer than ten in {names}: too few to rank models"
    return Fact("Test subjects", text, is_warning=bool(few))


def coverage(suites: Sequence[Suite]) -> list[Fact]:
    """Return, for each recipe, how much of the paper's grid has records."""
    lines = []
    for suite in suites:
        paper = [model for model in published.models() if model not in suite.models]
        datasets = {row.dataset for row in published.dataset_summary()}
        absent = [short_name(name) for name in sorted(datasets) if suite.study(name) is None]
        studied = {study.dataset: sorted(set(PAPER_SEEDS) - set(study.seeds)) for study in suite.studies}
        few = [f"{short_name(name)} {numbers(seeds)}" for name, seeds in studied.items() if seeds]
        gaps = [gap for study in suite.studies for gap in _gaps(study, suite.models)]
        parts = []
        if paper:
            parts.append(f"models of the paper not run: {', '.join(sorted(paper))}")
        if absent:
            parts.append(f"datasets not run: {', '.join(absent)}")
        if few:
            parts.append(f"seeds of the paper not run: {'; '.join(few)}")
        if gaps:
            parts.append(f"incomplete: {'; '.join(gaps)}")
        text = ". ".join(parts) or "all models, datasets and seeds of the paper"
        lines.append(Fact(f"Grid, recipe {suite.recipe}", text, is_warning=bool(parts)))
    return lines


def _gaps(study: Study, models: Sequence[str]) -> list[str]:
    """List what models lack, and what reduced models lack if any of them was run."""
    where = short_name(study.dataset)
    reduced = [group for group in study.comparison.groups if group.model in ablation_variants()]
    gaps = [*map(study.gap, models), *(gap_of(group, study.seeds, where) for group in reduced)]
    return [gap for gap in gaps if gap]


def _devices(records: Sequence[Record], measured: Sequence[Environment]) -> list[Fact]:
    lines = [Fact("Machines", devices(records))]
    others = {f"{environment.device_name} ({environment.device})" for environment in measured}
    if others:
        lines.append(Fact("Machines of efficiency and scaling", "; ".join(sorted(others))))
    if all(
        environment.device == "cpu"
        for environment in (*(record.environment for record in records), *measured)
    ):
        lines.append(Fact("GPU", "All results are from CPUs", True))
    elif any(not record.environment.deterministic for record in records):
        lines.append(
            Fact("Determinism", "cells trained on a GPU are not equal bit for bit when repeated", True)
        )
    return lines


def _failures(records: Sequence[Record]) -> list[Fact]:
    failed = [record for record in records if not record.is_done]
    if not failed:
        return [Fact("Failed cells", f"none of {len(records)}")]
    counts = Counter(record.outcome for record in failed)
    names = [
        f"{record.cell.model} / {record.cell.dataset} / seed {record.cell.seed} ({record.outcome})"
        for record in failed
    ]
    kinds = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
    return [Fact("Failed cells", f"{len(failed)} of {len(records)} ({kinds}): {'; '.join(names)}", True)]


def _damage(damaged: Sequence[str]) -> list[Fact]:
    return [Fact("Files left out", text, True) for text in damaged]
