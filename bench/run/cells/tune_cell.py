"""One tried configuration from its data to its record: train, score the validation part; the test part is never cut."""

from bench.measure.memory import peak_bytes
from bench.results.record import Record
from bench.results.store import find_record, write_record
from bench.run.cells.finished_cell import CellClock, tested
from bench.run.cells.train_cell import train_network
from bench.run.failure import identity_of
from bench.run.job import Job
from bench.run.news import OnPosition
from bench.run.planned_inputs import FittingParts, load_data


def tune_cell(job: Job, on_position: OnPosition) -> tuple[Record, str]:
    """Train and validate one configuration; return its record, and a remark on it.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    DataError, ModelError
        The data, or a user's own model, is not what it was when the cell was planned.
    """
    clock = CellClock()
    dataset = load_data(job)
    parts = FittingParts.of(dataset, job.cell.data.split)
    found = train_network(job, dataset, parts, clock, on_position)
    scores, _ = tested(found.model, parts.validation, job, dataset)
    clock.lap()
    kept = find_record(job.out, job.name, job.cell.key)
    if kept is None or not kept.is_done:
        kept = Record(
            **identity_of(job),
            outcome="ok",
            validation=scores,
            timing=clock.timing(),
            peak_memory_bytes=peak_bytes(job.device),
            environment=found.environment,
            **found.fields,
        )
        write_record(job.folder, kept)
    job.folder.checkpoint.unlink(missing_ok=True)
    return kept, ""
