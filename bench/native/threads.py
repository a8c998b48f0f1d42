"""A pool of threads for the kernels: made when first needed, never larger than torch's own, made anew after a fork."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import torch

_pools: dict[int, ThreadPoolExecutor] = {}
# Threads do not survive a fork, and their pool does not notice.
os.register_at_fork(after_in_child=_pools.clear)


def for_each(work: Callable[[range], None], n_items: int, slice_items: int) -> None:
    """Call ``work`` on ranges that together are all items, on as many threads as torch may use.

    Every range starts at a multiple of ``slice_items``. An error of any range is raised, like an interruption of
    the caller, only after every range is through: the kernel writes into memory that the caller may then give back.
    """
    n_slices = math.ceil(n_items / slice_items)
    n_threads = min(torch.get_num_threads(), n_slices)
    if n_threads <= 1:
        work(range(n_items))
        return
    borders = [min(n_slices * i // n_threads * slice_items, n_items) for i in range(n_threads + 1)]
    if n_threads not in _pools:
        _pools[n_threads] = ThreadPoolExecutor(n_threads, thread_name_prefix="native")
    running = [_pools[n_threads].submit(work, items) for items in map(range, borders, borders[1:])]
    try:
        for future in running:
            future.result()
    finally:
        wait(running)
