"""Verdicts on the paper's counts, splits and scaling, from the data that the records were made on.

Counts are no estimates: they agree or they do not. Whole data are recognised by their numbers of subjects and windows,
and training refuses parts that share a subject, so that such claims are followed here, not tested. Excerpts and
simulations decide nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from bench.paper import published
from bench.paper.claims import Claim, needs
from bench.paper.names import short_name
from bench.paper.scale import Ruling, Verdict, all_hold
from bench.results.record import DataDescription
from bench.studies.suite import Study, Suite

_COUNTS = {
    "n_subjects": "subjects",
    "n_windows": "windows",
    "n_classes": "classes",
    "n_channels": "channels",
    "n_times": "steps",
}
_PER_CHANNEL = ("window", "channel")


class DataJudge:
    """Judges claims about the paper's datasets, each by the study on the most of its real data."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        self.studies: dict[str, Study] = {}
        for study in (study for suite in suites for study in suite.studies):
            known = self.studies.get(study.dataset)
            if known is None or (_void(known) and not _void(study)):
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
        if claim.needs == "counts":
            return self._summaries(claim)
        about = dict(claim.about)
        ruling = self._rules[about.pop("rule")](**about)
        followed = needs()[claim.needs].followed
        return _followed(ruling, followed) if ruling and followed else ruling

    def _summaries(self, claim: Claim) -> Ruling | None:
        """Rule on the counts of the datasets that were run."""
        rulings = [
            self._counts(check["dataset"], {name: check[name] for name in _COUNTS if name in check})
            for check in claim.check["checks"]
        ]
        known = [ruling for ruling in rulings if ruling]
        if not known:
            return None
        return _followed(all_hold(known), needs()[claim.needs].followed)

    def _counts(self, dataset: str, counts: Mapping[str, int]) -> Ruling | None:
        study = self.studies.get(dataset)
        if study is None:
            return None
        counted = _counted(study.record.data)
        numbers = ", ".join(
            f"{counted[name]:,} {_COUNTS[name]} (stated {value:,})" for name, value in counts.items()
        )
        agree = all(counted[name] == value for name, value in counts.items())
        return _ruled([_void(study)], f"{short_name(dataset)}: {numbers}", agree)

    def _shares(self, shares: Mapping[str, Mapping[str, float]]) -> Ruling | None:
        """Compare shares of each dataset's subjects in percent.

        Stratified parts are rounded within each class, hence one subject of each class of slack.
        """
        studies = {name: self.studies[name] for name in shares if name in self.studies}
        if len(studies) < len(shares):
            return None
        return all_hold([_shared(study, shares[name]) for name, study in studies.items()])

    def _parts(self, dataset: str, subjects: Mapping[str, int]) -> Ruling | None:
        study = self.studies.get(dataset)
        if study is None:
            return None
        found = {str(name): part.n_subjects for name, part in study.record.data.parts.items()}
        evidence = ", ".join(f"{name} {found[name]}" for name in subjects)
        holds = all(found[name] == number for name, number in subjects.items())
        return _ruled([_void(study), _split_void(study)], f"subjects: {evidence}", holds)

    def _disjoint(self) -> Ruling | None:
        """Count the datasets whose cells have passed the trainer's check of shared subjects."""
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


def _shared(study: Study, shares: Mapping[str, float]) -> Ruling:
    subjects = {str(name): part.n_subjects for name, part in study.record.data.parts.items()}
    whole, slack = sum(subjects.values()), len(study.record.data.class_names)
    holds = all(abs(subjects[name] - share * whole / 100) <= slack for name, share in shares.items())
    numbers = ", ".join(f"{name} {100 * subjects[name] / whole:.1f} %" for name in shares)
    reasons = [_void(study), _split_void(study)]
    return _ruled(reasons, f"{short_name(study.dataset)}: of {whole:,} subjects {numbers}", holds)


def _followed(ruling: Ruling, reason: str) -> Ruling:
    """Return a ruling on what a run cannot refute: what would contradict it is an exception to what we follow."""
    if ruling.verdict is Verdict.UNDECIDED:
        return ruling
    exception = "" if ruling.verdict is Verdict.SUPPORTED else "not everywhere: "
    return Ruling(Verdict.FOLLOWED, f"{exception}{ruling.evidence}; {reason}")


def _ruled(reasons: Iterable[str], evidence: str, holds: bool) -> Ruling:
    """Rule on counts, undecided if any reason is not empty."""
    void = sorted({reason for reason in reasons if reason})
    return Ruling(Verdict.of(holds), evidence).unless("; ".join(void))


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
