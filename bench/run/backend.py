"""Where the jobs of a run are run: workers of this machine, or a Ray cluster."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from bench.machine import available_bytes
from bench.measure.environment import resolve_device
from bench.processes import Child, fork_server, wait_for_end
from bench.run.cells.compiling import compile_kernels, kernels_of
from bench.run.job import Job
from bench.run.pool import Event, run_jobs
from bench.run.ray_backend import connected
from bench.run.resources import Resources, visible_gpus
from bench.run.worker import SHARE_OF_MEMORY


class Backend(Protocol):
    """Where the jobs of a run are run."""

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda``."""
        ...

    def run(self, jobs: Sequence[Job]) -> Generator[Event]:
        """Run jobs and yield what happens; stop when the caller stops listening."""
        ...


@dataclass(frozen=True)
class _Here:
    """Workers of this machine, which begin when the process that compiles their kernels has ended."""

    resources: Resources
    device: str
    compiling: Child

    def run(self, jobs: Sequence[Job]) -> Generator[Event]:
        resources = self.resources
        if jobs:
            wait_for_end(self.compiling)
        # A cell that wants more than its share must not have the system kill it, or another, without a word.
        share = int(SHARE_OF_MEMORY * available_bytes() / resources.jobs)
        return run_jobs(
            [job if job.memory_bytes is not None else replace(job, memory_bytes=share) for job in jobs],
            n_workers=resources.jobs,
            timeout_s=resources.cell_timeout,
            gpus=visible_gpus(self.device),
        )


@contextmanager
def backend_for(resources: Resources, models: Sequence[str]) -> Iterator[Backend]:
    """Give the place where jobs of these models are to be run, ready before anything else is started."""
    if resources.backend == "ray":
        with connected(resources) as cluster:
            yield cluster
    else:
        device = resolve_device(resources.device)
        fork_server()
        compiling = Child(compile_kernels, sorted(kernels_of(models, device)))
        try:
            yield _Here(resources, device, compiling)
        finally:
            compiling.end()
