"""When measured numbers may be set against the paper's: its data, split, recipe, settings and seeds, all of them."""

from collections.abc import Sequence

from bench.paper.names import PAPER_RECIPE, PAPER_SEEDS
from bench.results.record import DataDescription


def void_reason(*, data: DataDescription, recipe: str, changes: str, seeds: Sequence[int]) -> str:
    """Say why numbers may not be set against the paper's; an empty text where they may.

    Parameters
    ----------
    data
        What was trained and tested on.
    recipe
        The training protocol's name.
    changes
        What a preset or a user set otherwise, as text.
    seeds
        Those of the cells that have scores.
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
