"""When patience ends a training: how many epochs a model took, from records of it. Free of torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from bench.plan.grid import PlannedCell
from bench.results.record import Record

# Relative error of a number of epochs beyond the variation of the records: on the same data, on other data.
DOUBT_OF_SAME, DOUBT_OF_OTHER = 0.1, 0.3


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """After how many epochs trainings of a model ended. ``doubt`` is relative; ``source`` names the records."""

    epochs: float
    doubt: float
    source: str


def may_stop_early(planned: PlannedCell) -> bool:
    """Tell whether patience can end the cell's training."""
    training = planned.settings.protocol
    return training.patience is not None and training.patience < training.epochs


def stopping_from_records(planned: PlannedCell, records: Sequence[Record]) -> Stopping | None:
    """Return when cells of the same model ended under the same patience and number of epochs.

    Records of the same data tell alone if there are any; else those of other data do. None without a record.
    """
    if planned.cell is None or not may_stop_early(planned):
        return None
    training, fingerprint = planned.settings.protocol, planned.cell.data.description.fingerprint
    alike = [
        record
        for record in records
        if record.is_done
        and record.history
        and record.cell.model == planned.settings.model
        and record.settings["training"].get("patience") == training.patience
        and record.settings["training"].get("epochs") == training.epochs
    ]
    same = [record for record in alike if record.data.fingerprint == fingerprint]
    told = same or alike
    if not told:
        return None
    epochs = [len(record.history) for record in told]
    middle = mean(epochs)
    return Stopping(
        epochs=middle,
        doubt=(DOUBT_OF_SAME if same else DOUBT_OF_OTHER) + (max(epochs) - min(epochs)) / 2 / middle,
        source=f"{middle:.0f} epochs by {len(told)} record{'s' if len(told) > 1 else ''}"
        f"{'' if same else ' of other data'}",
    )
