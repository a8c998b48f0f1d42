"""A pool of threads for the kernel: made when first needed, never larger than torch's own, made anew after a fork."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import torch

_pools: dict[int, ThreadPoolExecutor] = {}
# Threads do not survive a fork, and their pool does not notice.
os.register_at_fork(after_in_child=_pools.clear)


def for_each(work: Callable[[range], None], n_samples: int, slice_samples: int) -> None:
    """Call ``work`` on ranges that together are all samples, on as many threads as torch may use.

    Every range starts at a multiple of ``slice_samples``. An error of any range is raised, like an interruption of
    the caller, only after every range is through: the kernel writes into memory that the caller may then give back.
    """
    n_slices = math.ceil(n_samples / slice_samples)
    n_threads = min(torch.get_num_threads(), n_slices)
    if n_threads <= 1:
        work(range(n_samples))
        return
    borders = [min(n_slices * i // n_threads * slice_samples, n_samples) for i in range(n_threads + 1)]
    if n_threads not in _pools:
        _pools[n_threads] = ThreadPoolExecutor(n_threads, thread_name_prefix="scan")
    running = [_pools[n_threads].submit(work, samples) for samples in map(range, borders, borders[1:])]
    try:
        for one in running:
            one.result()
    finally:
        wait(running)
