"""Whether one reading of the paper gives every cell of its centralization table, and which cells need another.

Whoever may take another reading for each cell finds most numbers somewhere, since many readings lie close together. A
single script had one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.analyses.centralization.record import CentralizationRecord, Choice, Index, Reading, Scaling, Unit
from bench.paper import published
from bench.paper.published import HALF_DIGIT


@dataclass(frozen=True)
class OneReading:
    """One unit, scaling and formula for both indices, and which published cells (dataset, index) it gives.

    ``lacking`` are the measured cells that it does not give to the printed digit.
    """

    unit: Unit
    scaling: Scaling
    reading: Reading
    given: tuple[tuple[str, Index], ...]
    lacking: tuple[tuple[str, Index], ...]

    def choice(self, index: Index) -> Choice:
        """Return the choice of an index; the spectral one has a single formula."""
        reading = "as printed" if index == "sci" else self.reading
        return Choice(index=index, unit=self.unit, scaling=self.scaling, reading=reading)

    @property
    def label(self) -> str:
        """Its name in texts."""
        return f"{self.unit}, {self.scaling}, {self.reading}"

    @property
    def n_cells(self) -> int:
        """How many cells it was compared with."""
        return len(self.given) + len(self.lacking)

    @property
    def gives_the_table(self) -> bool:
        """Whether every cell of the published table was measured and is given."""
        return len(self.given) == n_published()


def n_published() -> int:
    """Return the number of cells of the published table: two indices for each dataset."""
    return 2 * len(published.centralization())


def best_reading(records: Sequence[CentralizationRecord]) -> OneReading | None:
    """Return the single reading that gives most published cells; None where none was measured in both indices.

    Of equals the first in the order of the records is taken.
    """
    choices = dict.fromkeys(measure.choice for record in records for measure in record.measures)
    readings = [
        found
        for choice in choices
        if choice.index == "dic"
        and (found := _compared(choice.unit, choice.scaling, choice.reading, records)).n_cells
    ]
    return max(readings, key=lambda found: len(found.given), default=None)


def _compared(
    unit: Unit, scaling: Scaling, reading: Reading, records: Sequence[CentralizationRecord]
) -> OneReading:
    """Compare one reading with every published cell of the datasets; a cell that it does not measure is lacking."""
    printed = {row.dataset: row for row in published.centralization()}
    unfilled = OneReading(unit, scaling, reading, (), ())
    cells: dict[bool, list[tuple[str, Index]]] = {True: [], False: []}
    for record in records:
        if record.dataset not in printed:
            continue
        for index in ("sci", "dic"):
            measure = record.measure(unfilled.choice(index))
            stated = getattr(printed[record.dataset], index)
            gives = measure is not None and abs(measure.mean - stated) <= HALF_DIGIT
            cells[gives].append((record.dataset, index))
    return replace(unfilled, given=tuple(cells[True]), lacking=tuple(cells[False]))
