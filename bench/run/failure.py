"""The fields of every record on its cell and environment, and the record of a cell without scores."""

import re
from datetime import UTC, datetime
from typing import Any

from filelock import Timeout

from bench.errors import BenchError, RecordError
from bench.files import atomic_file
from bench.measure.environment import describe
from bench.models.catalogue import BraindecodeEntry, EstimatorEntry, ModelEntry
from bench.results.record import SCHEMA, Environment, Failure, Outcome, Record, Timing
from bench.results.store import CellFolder, write_record
from bench.run.cell_lock import locked, sweep
from bench.run.ended import Ended, ended_before
from bench.run.job import Job
from bench.settings import Training

# Room for faulthandler's output, which ends with a long list of modules.
TAIL_BYTES = 16384
# Threads that faulthandler has listed at a signal; at a crash, an empty line after the reason comes first.
_STACKS = re.compile(rb"(?<!\n\n)^(?:(?:Current thread|Thread) 0x\w+ .*:\n(?: .*\n)+\n?)+", re.MULTILINE)


def identity_of(job: Job) -> dict[str, Any]:
    """Return the fields of a record that follow from its cell alone."""
    return {
        **_of_kind(job.model),
        "schema": SCHEMA,
        "key": job.cell.key,
        "cell": job.name,
        "settings": job.cell.settings.model_dump(mode="json"),
        "revisions": job.cell.revisions,
        "data": job.cell.data.description,
    }


def _of_kind(model: ModelEntry) -> dict[str, Any]:
    """Return the fields of a record that an estimator or a class of an installed package has, and no other model."""
    if isinstance(model, BraindecodeEntry):
        return {"model_spec": f"braindecode:{model.class_name}"}
    if not isinstance(model, EstimatorEntry):
        return {}
    spec = f"{model.module}:{model.class_name}" if model.provider else None
    return {"fitted_state": None, "model_spec": spec}


def environment_of(job: Job, scan_backend: str | None, attention_backend: str | None = None) -> Environment:
    """Describe the environment of a job."""
    training = job.cell.settings.training
    precision = training.precision if isinstance(training, Training) else "float32"
    described = describe(job.device, job.threads, precision, scan_backend, attention_backend)
    return described.model_copy(
        update={"deterministic": described.deterministic or job.deterministic, "ranks": job.ranks}
    )


def write_failure(job: Job, outcome: Outcome, failure: Failure, started: datetime) -> None:
    """Write the record of a cell without scores; the caller must hold the cell's lock."""
    record = Record(
        **identity_of(job),
        outcome=outcome,
        error=failure,
        micro_batch_size_used=None if job.cell.settings.is_estimator else job.training.micro_batch_size,
        timing=Timing(
            started=started.isoformat(timespec="seconds"),
            total_s=(datetime.now(UTC) - started).total_seconds(),
        ),
        environment=environment_of(job, None),
    )
    write_record(job.folder, record)


def record_failure(job: Job, outcome: Outcome, failure: Failure, started: datetime) -> Ended:
    """Write the record of a cell whose worker wrote none, with the end of its log; an existing record stays.

    Raises
    ------
    filelock.Timeout
        Another process holds the cell.
    RecordError
        The results folder cannot be written.
    """
    try:
        with locked(job.folder):
            sweep(job.folder)
            before = ended_before(job)
            if before is not None:
                return before
            tail = failure.traceback or last_lines(job.folder)
            write_failure(job, outcome, failure.model_copy(update={"traceback": tail}), started)
    except Timeout:
        raise
    except (OSError, BenchError) as error:
        raise RecordError(
            f"{job.folder.path}: not even a record can be written ({error}); make room there and run the same command "
            "again: finished cells and finished epochs are kept"
        ) from error
    return Ended(outcome, message=f"{failure.kind}: {failure.message}")


def last_lines(folder: CellFolder) -> str:
    """Return the end of a cell's log, which may be growing; faulthandler writes there when a process dies."""
    if not folder.log.exists():
        return ""
    with folder.log.open("rb") as file:
        file.seek(max(0, folder.log.stat().st_size - TAIL_BYTES))
        return file.read().decode("utf-8", errors="replace").strip()


def drop_stacks(folder: CellFolder) -> None:
    """Remove from a cell's log where stopped attempts were, crashes excepted; the caller must hold the cell's lock.

    A cell that goes on may finish, and its log is shown and packed; the record of a failure has its own copy.
    """
    before = folder.log.read_bytes() if folder.log.exists() else b""
    after = _STACKS.sub(b"", before)
    if after != before:
        with atomic_file(folder.log) as path:
            path.write_bytes(after)
