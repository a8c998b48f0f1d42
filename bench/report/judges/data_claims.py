"""Verdicts on the paper's counts, splits and scaling, from the data that the records were made on.

Whole data are recognised by their numbers of subjects and windows, so these two always agree; the evidence
says so. Excerpts and simulations decide nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from bench.paper import published
from bench.paper.claims import Claim, Ruling
from bench.paper.names import short_name
from bench.paper.rulings import comparison_ruling, void_ruling
from bench.results.record import DataDescription
from bench.studies.suite import Study, Suite

_COUNTS = {
    "n_subjects": "subjects",
    "n_windows": "windows",
    "n_classes": "classes",
    "n_channels": "channels",
    "n_times": "steps",
}
_OF_WHOLENESS = {"n_subjects", "n_windows"}
_PER_CHANNEL = ("window", "channel")


class DataJudge:
    """Judges claims about the paper's datasets, each by the study on the most of its real data."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        self.studies: dict[str, Study] = {}
        for study in (study for suite in suites for study in suite.studies):
            known = self.studies.get(study.dataset)
            if known is None or (_void(study) and not _void(known)):
                self.studies[study.dataset] = study
        self._rules: dict[str, Callable[..., Ruling | None]] = {
            "counts": self._counts,
            "shares": self._shares,
            "parts": self._parts,
            "disjoint": self._disjoint,
            "scaled_per_channel": self._scaled_per_channel,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the dataset was not run."""
        if claim.check.get("name") == "summary_agrees":
            counts = {name: claim.check[name] for name in _COUNTS if name in claim.check}
            return self._counts(claim.check["dataset"], counts)
        about = dict(claim.about)
        return self._rules[about.pop("rule")](**about)

    def _counts(self, dataset: str, counts: Mapping[str, int]) -> Ruling | None:
        study = self.studies.get(dataset)
        if study is None:
            return None
        counted = _counted(study.record.data)
        evidence = ", ".join(
            f"{counted[name]:,} {_COUNTS[name]} (stated {value:,})" for name, value in counts.items()
        )
        wrong = [name for name, value in counts.items() if counted[name] != value]
        if not wrong and counts.keys() & _OF_WHOLENESS:
            evidence += "; agrees by construction: data with other numbers would count as an excerpt"
        return _ruled([_void(study)], evidence, not wrong)

    def _shares(self, dataset: str, shares: Mapping[str, float]) -> Ruling | None:
        """Compare shares of subjects in percent; parts that the claim does not name belong to training.

        Stratified parts are rounded within each class, hence one subject of each class of slack.
        """
        study = self.studies.get(dataset)
        if study is None:
            return None
        parts = study.record.data.parts
        subjects = dict.fromkeys(shares, 0)
        for name, part in parts.items():
            subjects[name if name in shares else "train"] += part.n_subjects
        whole, slack = sum(subjects.values()), len(study.record.data.class_names)
        holds = all(abs(subjects[name] - share * whole / 100) <= slack for name, share in shares.items())
        evidence = ", ".join(f"{name} {100 * number / whole:.1f} %" for name, number in subjects.items())
        return _ruled([_void(study), _split_void(study)], f"of {whole:,} subjects {evidence}", holds)

    def _parts(self, dataset: str, subjects: Mapping[str, int]) -> Ruling | None:
        study = self.studies.get(dataset)
        if study is None:
            return None
        found = {str(name): part.n_subjects for name, part in study.record.data.parts.items()}
        evidence = ", ".join(f"{name} {found[name]}" for name in subjects)
        holds = all(found[name] == number for name, number in subjects.items())
        return _ruled([_void(study), _split_void(study)], f"subjects: {evidence}", holds)

    def _disjoint(self) -> Ruling | None:
        """Rule that no parts share a subject: every cell with scores has passed the trainer's check of that."""
        return self._everywhere(
            "cells with scores, each of which refuses parts that share a subject",
            lambda study: any(group.seeds for group in study.comparison.groups),
        )

    def _scaled_per_channel(self) -> Ruling | None:
        return self._everywhere(
            "scaled per channel", lambda study: study.record.data.normalisation in _PER_CHANNEL
        )

    def _everywhere(self, what: str, holds: Callable[[Study], bool]) -> Ruling | None:
        """Rule on a claim that has to hold for each dataset of the paper."""
        names = [row.dataset for row in published.dataset_summary()]
        studies = [self.studies[name] for name in names if name in self.studies]
        if len(studies) < len(names):
            return None
        failing = [short_name(study.dataset) for study in studies if not holds(study)]
        return _ruled(
            map(_void, studies), f"{what}: {len(names) - len(failing)} of {len(names)} datasets", not failing
        )


def _ruled(reasons: Iterable[str], evidence: str, holds: bool) -> Ruling:
    """Rule on counts, void if any reason is not empty."""
    void = sorted({reason for reason in reasons if reason})
    return void_ruling(evidence, "; ".join(void)) if void else comparison_ruling(holds, evidence)


def _void(study: Study) -> str:
    """Explain why a study's data are not the paper's; empty if they are."""
    kind = study.record.data.kind
    return "" if kind == "whole" else f"{kind} data"


def _split_void(study: Study) -> str:
    """Explain why a study's split is not the paper's; empty if it is."""
    origin = study.record.data.split_origin
    return "" if origin == "published" else f"split {origin}"


def _counted(data: DataDescription) -> dict[str, int]:
    """Sum the counts of the split's three parts, which hold everything that preprocessing kept."""
    parts = data.parts.values()
    return {
        "n_subjects": sum(part.n_subjects for part in parts),
        "n_windows": sum(part.n_windows for part in parts),
        "n_classes": len(data.class_names),
        "n_channels": data.n_channels,
        "n_times": data.n_times,
    }
