"""How a worker ended, and whether another process finished its cell first."""

import json
from dataclasses import dataclass
from typing import Literal

from bench.files import atomic_file, free_name
from bench.results.record import Environment, Failure, Metrics, Outcome, Record
from bench.results.store import find_record
from bench.run.job import Job, identity
from bench.run.news import Position


@dataclass(frozen=True)
class Ended:
    """How a worker ended.

    Its cell has a record of this outcome; or another process holds the cell; or there is no record yet: the fault of
    disk or machine may pass, half the memory may suffice, or the worker ``died`` by its own code. The caller decides
    what to do. A tried configuration has ``val_f1`` instead of ``test_f1``.
    """

    outcome: Outcome | Literal["already-done", "locked", "disk", "fault", "too-large", "died"]
    test_f1: float | None = None
    val_f1: float | None = None
    message: str = ""
    failure: Failure | None = None


News = Position | Ended
"""What a worker sends while it runs, and when it ends."""


def ended_before(job: Job) -> Ended | None:
    """Return the end of a cell that got a record since it was planned; None if it is still to be trained.

    Another run's failure counts as this run's: to retry it, start a new run with the option for that.
    """
    found = find_record(job.out, job.name, job.cell.key)
    if found is None or (not found.is_done and identity(found) == job.seen):
        return None
    if found.is_done:
        return Ended("already-done")
    message = f"{found.error.kind}: {found.error.message}" if found.error else ""
    return Ended(found.outcome, message=f"{message} (record of another attempt)".strip())


def earlier_record(job: Job, metrics: Metrics, environment: Environment) -> tuple[Record | None, str]:
    """Return the finished record that another process has written meanwhile, or None, and a remark on it.

    A cell can be trained twice at once where a file system has no locks; the first record stays. Equal scores collide
    harmlessly. Different scores are written to ``differs-N.json`` beside the record, with their environment: the
    two environments differ, or something is not as reproducible as it should be.
    """
    found = find_record(job.out, job.name, job.cell.key)
    if found is None or not found.is_done:
        return None, ""
    if found.metrics == metrics:
        return found, ""
    target = free_name(job.folder.path, "differs-{}.json")
    content = {"metrics": metrics.model_dump(mode="json"), "environment": environment.model_dump(mode="json")}
    with atomic_file(target) as path:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return (
        found,
        f"another process finished this cell first, with other scores; those of this one are in {target.name}",
    )
