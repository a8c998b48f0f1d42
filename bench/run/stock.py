"""Before a run trains: what is asked for is written down, and what earlier runs left is brought into order."""

from collections.abc import Sequence
from pathlib import Path

from bench.plan.grid import PlannedCell
from bench.plan.kept_splits import keep_splits
from bench.plan.planned import write_planned
from bench.plan.tuning import results_root
from bench.results.store import CONTROLS, TUNING
from bench.run.leftovers import planned_by_others, take_over_twins, tidy_done


def take_stock(cells: Sequence[PlannedCell], out: Path) -> None:
    """Bring the folder of results, and those of tried configurations and of controls in it, up to a plan.

    Raises
    ------
    RecordError
        The results folder cannot be written.
    """
    keep_splits(out, cells)
    for root in (out, out / TUNING, out / CONTROLS):
        own = [planned for planned in cells if results_root(out, planned.settings) == root]
        if own:
            write_planned(root, own, beside=planned_by_others(root))
            take_over_twins(own, root)
            tidy_done(own, root)
