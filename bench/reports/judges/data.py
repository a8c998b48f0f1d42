"""Verdicts on the paper's counts of subjects, windows and classes, from the data that the records were made on."""

from collections.abc import Mapping
from typing import Any

from bench.reports.suite import Study, Suite
from bench.results.claim_checks import Verdict
from bench.results.claims import Claim, Ruling

_COUNTS = ("n_subjects", "n_windows", "n_classes")


class DataJudge:
    """Rules on counts of whole datasets; excerpts and simulations decide nothing."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where records do not hold what the claim counts."""
        stated = _stated(claim.about)
        study = self.suite.study(str(claim.about.get("dataset", "")))
        if study is None or not stated:
            return None
        counted = _counted(study)
        shown = ", ".join(f"{name} {counted[name]:,}, stated {value:,}" for name, value in stated.items())
        kind = study.record.data.kind
        if kind != "whole":
            return Ruling(Verdict.NEEDS_RECORDS, f"{shown}, which decides nothing: {kind} data")
        holds = all(counted[name] == value for name, value in stated.items())
        return Ruling(Verdict.REPRODUCED if holds else Verdict.CONTRADICTED, shown)


def _stated(about: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts that a claim states, if records hold all of them."""
    if about.get("count") in _COUNTS:
        return {about["count"]: about["value"]}
    counts = {name: value for name, value in about.items() if name != "dataset"}
    return counts if counts.keys() <= set(_COUNTS) else {}


def _counted(study: Study) -> dict[str, int]:
    """Count the three parts of the split, which are all that preprocessing kept."""
    parts = study.record.data.parts.values()
    return {
        "n_subjects": sum(part.n_subjects for part in parts),
        "n_windows": sum(part.n_windows for part in parts),
        "n_classes": len(study.record.data.class_names),
    }
