"""Processes that work for this one: how many, what they are spared, and that none outlives it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def process_pool(n_workers: int) -> Iterator[ProcessPoolExecutor]:
    """Run a block with so many processes, which end with it; what they have not begun by then is dropped."""
    # Not "fork": libraries that this process has loaded may hold threads and locks.
    context = multiprocessing.get_context("forkserver")
    pool = ProcessPoolExecutor(n_workers, mp_context=context, initializer=_begin)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
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
