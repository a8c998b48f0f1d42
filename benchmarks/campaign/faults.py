"""What can happen to a run, a function for each kind: kills, disks that fail, damaged files, rivals, odd clocks."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
_MOST = (5, 25)
_TMPFS_BYTES = 64 << 20
# Too little for a checkpoint, a record or a line of a log.
_LEFT_BYTES = (0, 0, 100, 2000, 20_000)


def kill(this: Round) -> None:
    """Kill workers, the fork server and the run itself."""
    this.run(
        lambda run: f"SIGKILL: {kill_one(run.pid, this.draw)}", allowed=(DONE, FAILED, KILLED), every_s=2.0
    )


def refuse(this: Round) -> None:
    """Have one in so many calls of the system fail; after some attempts the disk is well again."""
    library, name = shim.compiled(this.cache), this.draw.choice(DISK_ERRORS)
    for number in range(this.draw.randint(1, 4)):
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

    this.run(strike, allowed=(DONE, STOPPED), every_s=1.5)


def fill(this: Round) -> None:
    """Fill a small file system to its last bytes, and empty it again."""
    this.undo.enter_context(_tmpfs(this.out))
    filler, most = this.out / ".filler", this.draw.randint(*_MOST)

    def strike(_: subprocess.Popen[bytes]) -> str | None:
        if filler.exists() or this.faults.total() >= most:
            filler.unlink(missing_ok=True)
            return None
        free = shutil.disk_usage(this.out).free - this.draw.choice(_LEFT_BYTES)
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, free))
        return "ENOSPC: full file system"

    this.run(strike, allowed=(DONE, STOPPED), every_s=1.5)
    filler.unlink(missing_ok=True)


def truncate(this: Round) -> None:
    """Cut files of a finished folder at random places; what they belong to is done again, all else stays."""
    shutil.copytree(this.calm, this.out)
    files = [path for path in sorted(this.out.rglob("*")) if path.is_file() and path.stat().st_size]
    by_folder: dict[Path, list[Path]] = {}
    for path in files:
        by_folder.setdefault(path.parent, []).append(path)
    for inside in by_folder.values():
        path = this.draw.choice(inside)
        os.truncate(path, this.draw.randrange(path.stat().st_size))
        this.faults[f"truncated: {path.name}"] += 1
    this.ask("status")
    this.run(lambda _: None, allowed=(DONE,))


def rival(this: Round) -> None:
    """Start two or three runs of the same grid at once: each cell is trained by one of them."""
    runs = []
    for _ in range(this.draw.choice((2, 2, 3))):
        runs.append(this.start())
        time.sleep(this.draw.uniform(0, 3))
    for run in runs:
        this.ended(run, allowed=(DONE,))
    this.faults["runs at once"] += len(runs)
    if this.n_trained != N_CELLS:
        this.problems.append(f"{len(runs)} runs of {N_CELLS} cells have trained {this.n_trained}")


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
    """Have the run use a Ray cluster of two nodes, of which one is lost when a cell is done."""
    from ray.cluster_utils import Cluster

    small: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    with patch.dict(os.environ, this.environment | quiet):
        cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
        try:
            cluster.add_node(**small)
            cluster.wait_for_nodes()
            run = this.start(words=("--backend", "ray", "--address", str(cluster.address)))
            while run.poll() is None and not this.finished():
                time.sleep(0.1)
            if run.poll() is None:
                cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
                this.faults["Ray node lost"] += 1
            this.ended(run, allowed=(DONE,))
        finally:
            cluster.shutdown()
    this.run(lambda _: None, allowed=(DONE,))


KINDS: dict[str, Callable[[Round], None]] = {
    "kill": kill,
    "refuse": refuse,
    "limit": limit,
    "fill": fill,
    "truncate": truncate,
    "rival": rival,
    "misdate": misdate,
    "lose": lose,
}
ORDER = (
    *("kill", "truncate", "refuse", "kill", "fill", "rival", "limit", "kill", "truncate", "misdate"),
    *("kill", "refuse", "fill", "truncate", "limit", "lose"),
)
"""How the kinds take turns."""


def _family(run: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the run and all below it."""
    try:
        process = psutil.Process(run.pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


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
