"""The process that every worker is forked from: it has done the slow imports once, and runs nothing else.

multiprocessing has one such process for all users in a program, and gives it its list of imports at its start only:
whoever needs any forked process, the cutting of windows included, starts it here first.
"""

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

# Importing these runs no tensor operation. torch._dynamo is a second's import that every optimiser asks for.
PRELOAD = [
    "torch",
    "torch._dynamo",
    "sklearn.metrics",
    "scipy.special",
    "threadpoolctl",
    "bench.run.cell",
    "bench.run.trial",
]
_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def fork_server() -> ForkServerContext:
    """Return multiprocessing's context with its fork server running; another one is started where it has died."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    with _single_thread():
        forkserver.ensure_running()
    return context


@contextmanager
def _single_thread() -> Iterator[None]:
    """Have a process that is started meanwhile make no thread pools, which a fork would not survive."""
    before = {name: os.environ.get(name) for name in _POOLS}
    os.environ.update(dict.fromkeys(_POOLS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
