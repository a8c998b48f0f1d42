"""Says whether windows come from the whole published dataset, an excerpt or a simulator, by what was found."""

from pathlib import Path

from bench.datasets.contract import DatasetFacts, Provenance
from bench.datasets.simulate.marker import read_marker


def provenance_of(
    facts: DatasetFacts, folder: Path, *, n_subjects: int, n_records: int, n_windows: int, n_skipped: int
) -> Provenance:
    """Compute the provenance: simulated by the folder's marker, whole by the published counts, else excerpt."""
    marker = read_marker(folder)
    if marker is not None:
        kind = "simulated"
    elif (n_subjects, n_windows) == (facts.n_subjects, facts.n_windows):
        kind = "whole"
    else:
        kind = "excerpt"
    return Provenance(
        kind=kind,
        version=facts.version,
        n_subjects=n_subjects,
        n_records=n_records,
        n_windows=n_windows,
        n_skipped=n_skipped,
        simulator=marker or {},
    )
