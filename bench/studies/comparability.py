"""Whether measured numbers may be compared with the paper's: data, split, recipe, settings and seeds must all agree."""

from collections.abc import Sequence

from bench.paper.names import PAPER_RECIPE, PAPER_SEEDS
from bench.results.record import DataDescription


def void_reason(*, data: DataDescription, recipe: str, changes: str, seeds: Sequence[int]) -> str:
    """Explain why numbers may not be compared with the paper's; empty if they may.

    Parameters
    ----------
    data
        The data of training and test.
    recipe
        The training protocol's name.
    changes
        The settings that a preset or a user changed, as text.
    seeds
        The seeds of the cells with scores.
    """
    reasons = {
        f"{data.kind} data": data.kind != "whole",
        f"split {data.split_origin}": data.kind == "whole" and data.split_origin != "published",
        f"recipe {recipe}": recipe != PAPER_RECIPE,
        f"changed {changes}": bool(changes),
        f"{data.n_skipped_records} records skipped": data.n_skipped_records > 0,
        f"seeds {', '.join(map(str, seeds)) or 'none'}": tuple(seeds) != PAPER_SEEDS,
    }
    return "; ".join(reason for reason, applies in reasons.items() if applies)
