"""Says by what was found whether windows are the published dataset's, all or some, converted, simulated or a user's."""

from pathlib import Path

from bench.datasets.contract import DatasetFacts, Kind, Provenance
from bench.datasets.declared import Declaration, read_declaration
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
    """Compute the provenance.

    Windows are simulated by the folder's marker, converted or an excerpt by its declaration, whole by the published
    counts, an excerpt otherwise. The version is the published one where the counts are; else it says that nobody has
    checked it.
    """
    marker, declaration = read_marker(folder), read_declaration(folder)
    kind: Kind
    if marker is not None:
        kind = "simulated"
    elif is_own:
        kind = "own"
    elif declaration is not None:
        kind = declaration.kind
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
        share=_share(kind, declaration, n_windows, facts.n_windows),
        remark=declaration.remark if declaration is not None and kind == declaration.kind else "",
    )


def share_text(share: float | None) -> str:
    """Return a share of the published windows as the end of a text, never rounded up to all; empty if not known."""
    if share is None:
        return ""
    return ", all windows" if share >= 1 else f", {min(100 * share, 99.9):.1f} % of the windows"


def _version(kind: Kind, published: str) -> str:
    if kind == "excerpt":
        return f"{published} expected, not verified"
    return f"none, in the layout of {published}" if kind == "simulated" else published


def _share(
    kind: Kind, declaration: Declaration | None, n_windows: int, n_published: int | None
) -> float | None:
    """Return the part of the published windows that are there: counted where possible, otherwise as declared."""
    if kind not in ("converted", "excerpt"):
        return None
    if n_published is not None:
        return n_windows / n_published
    return declaration.share if declaration is not None else None
