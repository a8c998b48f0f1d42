"""What can happen to a run, a function for each kind: kills, disks that fail, damaged files, rivals, odd clocks."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from benchmarks.campaign import shim
from benchmarks.campaign.grid import N_CELLS, Round
from benchmarks.soak import kill_one

KILLED, STOPPED, FAILED, DONE = -9, 2, 1, 0
DISK_ERRORS = ("ENOSPC", "EIO", "EDQUOT")
_DAY_S = 86_400
# A grid has no more than so many: on a slow machine no worker would live until its first checkpoint.
_MOST = (30, 100)
_MOST_KILLS = (60, 150)
_MOST_BESIDE_WORKERS = (20, 60)
_MOST_NODES = (10, 20)
_TMPFS_BYTES = 64 << 20
_NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
# Too little for a checkpoint, a record or a line of a log.
_LEFT_BYTES = (0, 0, 100, 2000, 20_000)


def kill(this: Round) -> None:
    """Kill workers, the fork server and the run itself, then leave it alone; often only while there is a worker."""
    only_beside_workers = this.draw.random() < 2 / 3
    most = this.draw.randint(*(_MOST_BESIDE_WORKERS if only_beside_workers else _MOST_KILLS))

    def strike(run: subprocess.Popen[bytes]) -> str | None:
        if this.faults.total() >= most or (only_beside_workers and not _has_workers(run)):
            return None
        return f"SIGKILL: {kill_one(run.pid, this.draw)}"

    this.run(strike, allowed=(DONE, FAILED, KILLED), every_s=this.draw.choice((0.6, 2.0, 4.0)))


def refuse(this: Round) -> None:
    """Have one in so many calls of the system fail; after some attempts the disk is well again."""
    library, name = shim.compiled(this.cache), this.draw.choice(DISK_ERRORS)
    for number in range(this.draw.randint(3, 8)):
        ledger = this.folder / f"ledger-{number}"
        every, seed = this.draw.choice((10, 40, 150)), this.draw.randrange(2**31)
        environment = shim.failing(
            library, this.out, code=getattr(errno, name), every=every, seed=seed, ledger=ledger
        )
        this.ended(this.start(environment), (DONE, STOPPED))
        this.look()
        this.faults[name] += shim.noted(ledger)
    this.run(lambda _: None, allowed=(DONE,))


def limit(this: Round) -> None:
    """Forbid processes of the run to write files beyond a few bytes, and allow it again."""
    most = this.draw.randint(*_MOST)

    def strike(run: subprocess.Popen[bytes]) -> str | None:
        lifted = this.faults.total() >= most or this.draw.random() < 0.2
        n_bytes = resource.RLIM_INFINITY if lifted else this.draw.choice(_LEFT_BYTES)
        n_limited = sum(_limited(process, n_bytes) for process in _family(run))
        return "EFBIG: RLIMIT_FSIZE" if n_limited and not lifted else None

    this.run(strike, allowed=(DONE, STOPPED), every_s=this.draw.choice((0.6, 1.5)))


def fill(this: Round) -> None:
    """Fill a small file system to its last bytes, and empty it again."""
    this.undo.enter_context(_tmpfs(this.out))
    filler, most = this.out / ".filler", this.draw.randint(*_MOST)

    def strike(_: subprocess.Popen[bytes]) -> str | None:
        if filler.exists() or this.faults.total() >= most:
            filler.unlink(missing_ok=True)
            return None
        # The run writes meanwhile: how much is free is known when nothing more goes in.
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << 20)):
                continue
        os.truncate(filler, max(0, filler.stat().st_size - this.draw.choice(_LEFT_BYTES)))
        return "ENOSPC: full file system"

    this.run(strike, allowed=(DONE, STOPPED), every_s=this.draw.choice((0.6, 1.5)))
    filler.unlink(missing_ok=True)


def truncate(this: Round) -> None:
    """Cut files in every folder of results at random places; what they belong to is done again, all else stays."""
    shutil.copytree(this.calm, this.out)
    files = [path for path in sorted(this.out.rglob("*")) if path.is_file() and path.stat().st_size]
    by_folder: dict[Path, list[Path]] = {}
    for path in files:
        by_folder.setdefault(path.parent, []).append(path)
    for inside in by_folder.values():
        for path in this.draw.sample(inside, min(len(inside), this.draw.randint(1, 3))):
            os.truncate(path, this.draw.randrange(path.stat().st_size))
            if path.name != "log.txt":
                this.damaged.add(path.parent)
            this.faults[f"truncated: {path.name}"] += 1
    this.ask("status")
    this.run(lambda _: None, allowed=(DONE,))


def rival(this: Round) -> None:
    """Start several runs of the same grid at once, often with few cells left: each is trained by one of them."""
    n_left = this.draw.choice((1, 1, 2, N_CELLS))
    if n_left < N_CELLS:
        shutil.copytree(this.calm, this.out)
        for record in this.draw.sample(this.finished(), n_left):
            shutil.rmtree(record.parent)
    runs = []
    for _ in range(this.draw.choice((2, 3, 8, 8))):
        runs.append(this.start())
        time.sleep(this.draw.uniform(0, 3))
    for run in runs:
        this.ended(run, allowed=(DONE,))
    this.faults["runs at once"] += len(runs)
    if this.n_trained != n_left:
        this.problems.append(f"{len(runs)} runs of {n_left} cells have trained {this.n_trained}")


def misdate(this: Round) -> None:
    """Have the wall clock jump by days, in every process by the same."""
    ledger = this.folder / "ledger"
    seed = this.draw.randrange(2**31)
    environment = shim.jumping(
        shim.compiled(this.cache),
        most_s=this.draw.choice((60, _DAY_S, 400 * _DAY_S)),
        seed=seed,
        ledger=ledger,
    )
    this.ended(this.start(environment), allowed=(DONE,))
    this.faults["clock jumps, by process"] += shim.noted(ledger)
    this.run(lambda _: None, allowed=(DONE,))


def lose(this: Round) -> None:
    """Have the run use a Ray cluster of two nodes, of which one is lost and replaced again and again."""
    with _cluster(this.environment) as cluster:
        run = this.start(words=("--backend", "ray", "--address", str(cluster.address)))
        most = this.draw.randint(*_MOST_NODES)
        while this.faults.total() < most and run.poll() is None:
            time.sleep(this.draw.uniform(1, 6))
            if not (this.out / "planned.json").exists():
                continue
            this.look()
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
            this.faults["Ray node lost"] += 1
            cluster.add_node(**_NODE)
        # A cell whose node is lost again and again has failed.
        this.ended(run, allowed=(DONE, FAILED))
    this.run(lambda _: None, allowed=(DONE,))


KINDS: dict[str, Callable[[Round], None]] = {
    "truncate": truncate,
    "refuse": refuse,
    "misdate": misdate,
    "kill": kill,
    "limit": limit,
    "fill": fill,
    "rival": rival,
    "lose": lose,
}
"""In the order in which they take turns; the quick ones come first."""
QUICKEST = ("kill", "limit", "kill", "fill")
"""Most faults in a time: what happens again when each kind has had its share."""


@contextmanager
def _cluster(environment: Mapping[str, str]) -> Iterator[Any]:
    """Start a Ray cluster of a head and a second node."""
    from ray.cluster_utils import Cluster

    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    with patch.dict(os.environ, {**environment, **quiet}):
        cluster = Cluster(initialize_head=True, head_node_args={**_NODE, "include_dashboard": False})
        try:
            cluster.add_node(**_NODE)
            cluster.wait_for_nodes()
            yield cluster
        finally:
            cluster.shutdown()


def _family(run: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the run and all below it."""
    try:
        process = psutil.Process(run.pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _has_workers(run: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process has been forked for a cell."""
    with suppress(psutil.NoSuchProcess):
        return any(process.ppid() != run.pid for process in _family(run)[1:])
    return False


def _limited(process: psutil.Process, n_bytes: int) -> bool:
    """Limit the size of files that a process writes; tell whether it was there."""
    try:
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (n_bytes, hard))
    except (ProcessLookupError, PermissionError):
        return False
    return True


def usable(kind: str) -> bool:
    """Tell whether a kind of fault can happen here: to mount a file system takes rights, the shim is for Linux."""
    if kind == "fill":
        return sys.platform == "linux" and os.geteuid() == 0 and _mounts()
    if kind == "lose":
        return find_spec("ray") is not None
    return sys.platform == "linux" or kind in ("kill", "truncate", "rival")


@cache
def _mounts() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _tmpfs(Path(folder) / "tried"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


@contextmanager
def _tmpfs(folder: Path) -> Iterator[None]:
    folder.mkdir()
    size = f"size={_TMPFS_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
