"""Says by what was found whether windows are the whole published dataset's, an excerpt's, simulated or a user's."""

from pathlib import Path

from bench.datasets.contract import DatasetFacts, Kind, Provenance
from bench.datasets.simulate.marker import read_marker


def provenance_of(
    facts: DatasetFacts,
    folder: Path,
    *,
    is_own: bool,
    n_subjects: int,
    n_records: int,
    n_windows: int,
    n_skipped: int,
) -> Provenance:
    """Compute the provenance: simulated by the folder's marker, whole by the published counts, else excerpt.

    The version is the published one where the counts are; else it says that nobody has checked it.
    """
    marker = read_marker(folder)
    kind: Kind
    if marker is not None:
        kind = "simulated"
    elif is_own:
        kind = "own"
    elif (n_subjects, n_windows) == (facts.n_subjects, facts.n_windows):
        kind = "whole"
    else:
        kind = "excerpt"
    return Provenance(
        kind=kind,
        version=_version(kind, facts.version),
        n_subjects=n_subjects,
        n_records=n_records,
        n_windows=n_windows,
        n_skipped=n_skipped,
        simulator=marker or {},
    )


def _version(kind: Kind, published: str) -> str:
    if kind == "excerpt":
        return f"{published} expected, not verified"
    return f"none, in the layout of {published}" if kind == "simulated" else published
