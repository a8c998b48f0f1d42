"""Claims of a state of the art are judged against what was published before, whatever was run."""

from pathlib import Path

import pytest

from bench.paper.claims import ledger
from bench.paper.scale import Verdict
from bench.report.judges import make_judges


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("adftd-state-of-the-art", "MedGNN, WWW 2025, 55.00 ± 0.24"),
        ("state-of-the-art-everywhere", "TeCh, ICLR 2026, 86.88 ± 1.09"),
    ],
)
def test_better_scores_published_before_contradict(tmp_path: Path, name: str, evidence: str) -> None:
    (entry,) = [entry for entry in ledger(make_judges(tmp_path, [])) if entry.claim.id == name]

    assert entry.ruling.verdict is Verdict.CONTRADICTED
    assert evidence in entry.ruling.evidence
    assert "protocols differ" in entry.ruling.evidence
    assert entry.command == "bench field show"
