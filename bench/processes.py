"""Processes that work for this one: where they are forked from, and that none outlives it."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def fork_server(preload: Sequence[str]) -> ForkServerContext:
    """Return multiprocessing's context with its fork server running; another one is started where it has died.

    The fork server does the slow imports once, and runs nothing else. multiprocessing has one for all users in a
    program, and gives it its list of imports at its start only: whoever asks first decides.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
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


@contextmanager
def process_pool(n_workers: int, preload: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """Run a block with so many processes, which end with it; what they have not begun by then is dropped."""
    pool = ProcessPoolExecutor(n_workers, mp_context=fork_server(preload), initializer=_begin)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    # What the fork server has loaded stays; looking at it again in every collection would take a tenth of the time.
    gc.freeze()
    # Ctrl-C reaches all processes of a terminal; the parent is the one to answer it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()


def die_with_parent() -> None:
    """End this process when the one that asked for it is gone, so that no orphan works on."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
