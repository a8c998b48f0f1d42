"""How a worker ended, and how a cell had ended already when a worker came to it."""

from dataclasses import dataclass
from typing import Literal

from bench.results.record import Failure, Outcome, Record
from bench.results.store import find_record
from bench.run.job import Job


@dataclass(frozen=True)
class Ended:
    """How a worker ended.

    Its cell has a record of this outcome; or another process holds the cell; or there is no record yet: the fault may
    pass, half the memory may do, or the worker ``died`` by its own code. Whoever started the worker decides.
    """

    outcome: Outcome | Literal["already-done", "locked", "fault", "too-large", "died"]
    test_f1: float | None = None
    message: str = ""
    failure: Failure | None = None


def ended_before(job: Job) -> Ended | None:
    """Return how a cell ended that has got a record since it was planned; None when it is still to be trained.

    Another run's failure counts as this run's: whoever wants it tried again says so in a new run.
    """
    found = find_record(job.out, job.name, job.cell.key)
    if found is None or (not found.is_done and identity(found) == job.seen):
        return None
    if found.is_done:
        return Ended("already-done")
    message = f"{found.error.kind}: {found.error.message}" if found.error else ""
    return Ended(found.outcome, message=f"{message} (record of another attempt)".strip())


def identity(record: Record | None) -> str | None:
    """Return what tells a record from a later one of the same cell."""
    return None if record is None else f"{record.timing.started} {record.timing.total_s!r}"
