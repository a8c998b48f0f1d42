"""The same cells as tasks of a Ray cluster: each runs on its node as it would here, and its files come back.

A task hands its cell to a worker process of its own, as a local run does, so that every way a cell can end is a
record. Ray starts a task again elsewhere when its node or its process dies. Where the node has the results folder,
the cell's files are written there, under its lock; elsewhere they are sent back and written here. Data is expected
at the same path on every node; prepared windows are made there at first use.
"""

import os
import socket
import tempfile
import time
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import Timeout

from bench.errors import BenchError, RecordError, UsageError
from bench.files import atomic_file
from bench.results.record import Failure, Record
from bench.results.store import RECORD
from bench.run.cell_lock import locked
from bench.run.ended import Ended, earlier_record, ended_before
from bench.run.failure import record_failure
from bench.run.job import Job
from bench.run.pool import Event, Finished, run_jobs
from bench.run.resources import Resources

# A file at the top of the results folder by which a node can tell that it has that folder.
SHARED_MARK = ".shared-"
RETRIES = 3
NEWS_S, REACH_S = 5.0, 10.0


@dataclass(frozen=True)
class Shipped:
    """How a cell ended on a node, and its files by name where the node does not share the results folder."""

    ended: Ended
    files: dict[str, bytes] = field(default_factory=dict)


Answer = Shipped | Failure


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that this process is connected to."""

    ray: Any
    device: str
    timeout_s: float | None

    def run(self, jobs: Sequence[Job]) -> Generator[Event]:
        """Run jobs and yield their ends; cancel what is left when the caller stops listening.

        A cell that another run holds when its result is to be written here is written when that run is done with it.

        Raises
        ------
        UsageError
            The nodes cannot run the tasks at all, for lack of the package say.
        RecordError
            The files of a cell cannot be written here.
        """
        if not jobs:
            return
        with _token(jobs[0].out) as token:
            pending = {self._submit(job, token): job for job in jobs}
            late: list[tuple[Job, Answer]] = []
            try:
                while pending or late:
                    _renew(token)
                    for task in self._some_done(list(pending)):
                        late.append((pending.pop(task), _answer(self.ray, task)))
                    for job, answer in [late.pop(0) for _ in late[:]]:
                        try:
                            yield Finished(job, _take(job, answer))
                        except Timeout:
                            late.append((job, answer))
            finally:
                for task in pending:
                    self.ray.cancel(task, force=True)

    def _submit(self, job: Job, token: Path) -> Any:
        task = self.ray.remote(run_here).options(
            num_cpus=job.threads,
            num_gpus=int(job.device == "cuda"),
            max_retries=RETRIES,
            name=job.cell.label,
        )
        return task.remote(job, token, self.timeout_s)

    def _some_done(self, pending: list[Any]) -> list[Any]:
        """Wait a few seconds for tasks to end and return those that have."""
        if not pending:
            time.sleep(NEWS_S)
            return []
        return self.ray.wait(pending, num_returns=1, timeout=NEWS_S)[0]


@contextmanager
def connected(resources: Resources) -> Iterator[Cluster]:
    """Connect to the cluster at an address; without one, to the one that Ray finds, or a new one on this machine.

    Whether cells use GPUs is the cluster's matter, not this machine's.

    Raises
    ------
    UsageError
        Ray is not installed, there is no cluster at the address, or none of its nodes has what one cell needs.
    """
    ray = _connect(resources.address)
    try:
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        yield Cluster(ray, _device(resources, nodes), resources.cell_timeout)
    finally:
        ray.shutdown()


def _device(resources: Resources, nodes: Sequence[Mapping[str, float]]) -> str:
    """Return what cells compute on, if one node has all that a cell needs."""
    able = [node for node in nodes if node.get("CPU", 0) >= resources.threads]
    if not able:
        most = max((node.get("CPU", 0) for node in nodes), default=0)
        raise UsageError(
            f"--threads {resources.threads}: no node of the Ray cluster has so many CPUs, the largest has {most:g}"
        )
    has_gpu = any(node.get("GPU", 0) >= 1 for node in able)
    if resources.device == "cuda" and not has_gpu:
        raise UsageError(
            f"--device cuda: no node of the Ray cluster has a GPU and {resources.threads} CPUs; use --device cpu"
        )
    return "cuda" if has_gpu and resources.device != "cpu" else "cpu"


def run_here(job: Job, token: Path, timeout_s: float | None) -> Shipped:
    """Run one cell on this node: into the results folder if this node has it, else into a folder to be sent."""
    job.introduce()
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
    token = out / f"{SHARED_MARK}{uuid.uuid4().hex}"
    token.touch()
    try:
        yield token
    finally:
        token.unlink(missing_ok=True)


def _renew(token: Path) -> None:
    """Show other runs of the folder that this one is alive."""
    with suppress(FileNotFoundError):
        os.utime(token)


def _answer(ray: Any, task: Any) -> Answer:
    """Return what a task brings, or why it brings nothing.

    Raises
    ------
    UsageError
        The task's own code failed before or beside its cell, as it will for every other cell.
    """
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise UsageError(
            f"a Ray node cannot run cells: {str(error).strip().splitlines()[-1]}; it needs this package and your own "
            "models and datasets at the same paths as here. Finished cells are kept"
        ) from error
    except ray.exceptions.RayError as error:
        message = f"Ray gave the cell up after {RETRIES} retries: {error}"
        return Failure(kind=type(error).__name__, message=message)


def _take(job: Job, answer: Answer) -> Ended:
    """Have a cell's record here: the one that was sent, or that of a failure; return how the cell ended.

    Raises
    ------
    filelock.Timeout
        Another process holds the cell.
    """
    if isinstance(answer, Failure):
        return record_failure(job, "failed", answer, datetime.now(UTC))
    return _unpack(job, answer) if answer.files else answer.ended


def _unpack(job: Job, shipped: Shipped) -> Ended:
    """Write the files of a cell, its record last; a cell that got a finished record meanwhile keeps it.

    Raises
    ------
    filelock.Timeout
        Another process holds the cell.
    RecordError
        The results folder cannot be written.
    """
    folder = job.folder
    try:
        with locked(folder):
            sent = Record.model_validate_json(shipped.files[RECORD]) if RECORD in shipped.files else None
            if sent is not None and sent.metrics is not None:
                kept, note = earlier_record(job, sent.metrics, sent.environment)
                if kept is not None:
                    return replace(shipped.ended, message=note)
            elif (before := ended_before(job)) is not None:
                return before
            for name in sorted(shipped.files, key=lambda name: name == RECORD):
                with atomic_file(folder.path / name) as path:
                    path.write_bytes(shipped.files[name])
    except Timeout:
        raise
    except (OSError, BenchError) as error:
        raise RecordError(
            f"{folder.path}: cannot be written ({error}); make room and run the same command again"
        ) from error
    return shipped.ended
