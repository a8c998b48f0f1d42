"""``--shard i/n``: one machine's part of a grid, independent of which cells are done."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench.errors import UsageError
from bench.plan.grid import PlannedCell


@dataclass(frozen=True)
class Shard:
    """The ``index``-th of ``count`` parts, counted from 1."""

    index: int
    count: int

    def of(self, cells: Sequence[PlannedCell]) -> list[PlannedCell]:
        """Return the cells of every ``count``-th unit, in the plan's order.

        A unit is a cell or, where configurations are tried, all cells of a model on a dataset, since they depend on
        each other. Units are counted in the order of a hash of their names, so that no part gets all cells of a slow
        model.
        """
        units: dict[str, list[int]] = {}
        for position, cell in enumerate(cells):
            units.setdefault(_unit(cell), []).append(position)
        shuffled = sorted(units, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        chosen = [position for name in shuffled[self.index - 1 :: self.count] for position in units[name]]
        return [cells[position] for position in sorted(chosen)]


def parse_shard(text: str) -> Shard:
    """Return the shard of a text such as ``2/8``.

    Raises
    ------
    UsageError
        The text has another form, or there is no such part.
    """
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard {text[:60]!r}: expected I/N with I from 1 to N, for example 2/8")
    return Shard(int(found[1]), int(found[2]))


def _unit(cell: PlannedCell) -> str:
    settings = cell.settings
    depends = settings.candidate is not None or settings.tuned is not None
    seed = "any" if depends else settings.seed
    return f"{settings.model} {settings.dataset} {seed} {settings.recipe}"
