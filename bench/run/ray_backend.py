"""The same cells as tasks of a Ray cluster: each runs on its node as it would here, and its files come back.

A task hands its cell to a worker process of its own, as a local run does, so that every way a cell can end is a
record. Ray starts a task again elsewhere when its node or its process dies. Where the node has the results folder,
the cell's files are written there, under its lock; elsewhere they are sent back and written here. Data is expected
at the same path on every node; prepared windows are made there at first use.
"""

import os
import socket
import tempfile
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import Timeout

from bench import datasets
from bench.errors import RecordError, UsageError
from bench.files import atomic_file
from bench.models import registry as models
from bench.results.record import Failure
from bench.results.store import find_record
from bench.run.claim import claim
from bench.run.failure import write_failure
from bench.run.job import Job
from bench.run.pool import Event, Finished, run_jobs
from bench.run.worker import Ended

RETRIES = 3
NEWS_S, REACH_S = 5.0, 10.0


@dataclass(frozen=True)
class Shipped:
    """How a cell ended on a node, and its files by name where the node does not share the results folder."""

    ended: Ended
    files: dict[str, bytes] = field(default_factory=dict)


def run_on_ray(
    jobs: Sequence[Job], *, address: str | None, timeout_s: float | None
) -> Generator[Event, None, None]:
    """Run jobs on a Ray cluster and yield their ends; cancel what is left when the caller stops listening.

    Parameters
    ----------
    jobs
        Cells to train.
    address
        The cluster's head; None for the one that Ray finds, or a new one on this machine.
    timeout_s
        Longest time of one cell.

    Raises
    ------
    UsageError
        Ray is not installed, or there is no cluster at the address.
    RecordError
        The files of a cell cannot be written here.
    """
    if not jobs:
        return
    ray = _connect(address)
    with _token(jobs[0].out) as token:
        task = ray.remote(run_here)
        pending: dict[Any, Job] = {}
        try:
            for job in jobs:
                asked = task.options(
                    num_cpus=job.threads,
                    num_gpus=int(job.device == "cuda"),
                    max_retries=RETRIES,
                    name=job.cell.label,
                )
                pending[asked.remote(job, token, timeout_s)] = job
            while pending:
                done, _ = ray.wait(list(pending), timeout=NEWS_S)
                for one in done:
                    yield _conclude(ray, one, pending.pop(one))
        finally:
            for one in pending:
                ray.cancel(one, force=True)
            ray.shutdown()


def run_here(job: Job, token: Path, timeout_s: float | None) -> Shipped:
    """Run one cell on this node: into the results folder if this node has it, else into a folder to be sent."""
    models.register(job.model)
    datasets.register(job.dataset)
    # Ray tells a task its GPU by this variable; the fork server may be older than the task.
    gpus = [os.environ["CUDA_VISIBLE_DEVICES"]] if job.device == "cuda" else []
    if token.exists():
        return Shipped(_run_one(job, timeout_s, gpus))
    with tempfile.TemporaryDirectory(prefix="medmamba-bench-") as folder:
        elsewhere = replace(job, out=Path(folder))
        ended = _run_one(elsewhere, timeout_s, gpus)
        files = {
            path.name: path.read_bytes()
            for path in elsewhere.folder.path.iterdir()
            if path != elsewhere.folder.lock and not path.name.startswith("checkpoint")
        }
        return Shipped(ended, files)


def _run_one(job: Job, timeout_s: float | None, gpus: Sequence[str]) -> Ended:
    for event in run_jobs([job], n_workers=1, timeout_s=timeout_s, gpus=gpus):
        if isinstance(event, Finished):
            return event.ended
    raise AssertionError("a job ended without saying how")


def _connect(address: str | None) -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UsageError(
            "--backend ray: Ray is not installed; pip install 'medmamba-bench[ray]', or use --backend local"
        ) from error
    if address is not None:
        _require_reachable(address)
    try:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"--address {address}: no Ray cluster there ({error}); start one with 'ray start'"
        ) from error
    return ray


def _require_reachable(address: str) -> None:
    """Look whether anything listens at ``host:port``, since Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # a word of Ray's, such as auto
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except OSError as error:
        raise UsageError(
            f"--address {address}: no Ray cluster there ({error}); start one with 'ray start --head'"
        ) from error


@contextmanager
def _token(out: Path) -> Iterator[Path]:
    """Write a file by which a node can tell whether it has the results folder."""
    token = out / f".shared-{uuid.uuid4().hex}"
    token.touch()
    try:
        yield token
    finally:
        token.unlink(missing_ok=True)


def _conclude(ray: Any, one: Any, job: Job) -> Finished:
    """Take what a task brings; a record for one that Ray gave up."""
    try:
        shipped: Shipped = ray.get(one)
    except ray.exceptions.RayError as error:
        kind, message = type(error).__name__, f"Ray gave the cell up after {RETRIES} retries: {error}"
        return _give_up(job, Failure(kind=kind, message=message))
    if shipped.files:
        _unpack(job, shipped)
    return Finished(job, shipped.ended)


def _give_up(job: Job, failure: Failure) -> Finished:
    try:
        with claim(job.folder):
            write_failure(job, "failed", failure, datetime.now(UTC))
    except Timeout:
        return Finished(job, Ended("already-done", message="another run trains it"))
    return Finished(job, Ended("failed", message=f"{failure.kind}: {failure.message}"))


def _unpack(job: Job, shipped: Shipped) -> None:
    """Write the files of a cell, its record last; a cell that got one meanwhile keeps it.

    Raises
    ------
    RecordError
        The results folder cannot be written.
    """
    folder = job.folder
    try:
        with claim(folder):
            found = find_record(job.out, job.name, job.cell.key)
            if found is not None and found.is_done:
                return
            for name in sorted(shipped.files, key=lambda name: name == folder.record.name):
                with atomic_file(folder.path / name) as path:
                    path.write_bytes(shipped.files[name])
    except OSError as error:
        raise RecordError(
            f"{folder.path}: cannot be written ({error.strerror}); make room and run the same command again"
        ) from error
