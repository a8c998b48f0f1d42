"""The record of a cell that has no scores, and what every record says of where its cell ran."""

from datetime import UTC, datetime

from bench.results.record import Environment, Failure, Outcome, Record, Timing
from bench.results.store import write_record
from bench.run.environment import describe
from bench.run.job import Job


def write_failure(job: Job, outcome: Outcome, failure: Failure, started: datetime) -> None:
    """Write the record of a cell that has no scores; only for who holds the cell."""
    record = Record(
        schema=1,
        key=job.cell.key,
        cell=job.name,
        settings=job.cell.settings.model_dump(mode="json"),
        revisions=job.cell.revisions,
        outcome=outcome,
        error=failure,
        timing=Timing(
            started=started.isoformat(timespec="seconds"),
            total_s=(datetime.now(UTC) - started).total_seconds(),
        ),
        environment=environment_of(job, None),
        data=job.cell.data.description,
    )
    write_record(job.folder, record)


def environment_of(job: Job, scan_backend: str | None) -> Environment:
    """Describe where a job runs."""
    described = describe(job.device, job.threads, job.cell.settings.training.precision, scan_backend)
    ranks = {"ranks": str(job.ranks)} if job.ranks > 1 else {}
    return described.model_copy(
        update={
            "deterministic": described.deterministic or job.deterministic,
            "versions": described.versions | ranks,
        }
    )
