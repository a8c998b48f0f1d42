"""How fast prepared windows are loaded, scaled and dealt out in batches, at ADFTD's shape; run it as a script.

Prints one line per measurement with its bound: batches by index on one thread (200,000 windows/s), scaling
against the published loaders' scaling of each sample (10 times as fast), and peak memory of loading (twice the
windows). ``--n-windows 69752`` is the whole of ADFTD and takes 1.4 GB of disk and memory.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.formats.npy_stream import NpyStream
from bench.datasets.loading import read_scaled
from bench.datasets.normalisation import normalise_windows
from bench.train.part import Part

N_TIMES, N_CHANNELS, BATCH_SIZE = 256, 19, 128
N_WINDOWS_SCALED_SLOWLY = 1000
ROUNDS = 5


def write_windows(path: Path, n_windows: int) -> None:
    """Write random windows of ADFTD's shape, block by block."""
    generator = np.random.default_rng(0)
    with NpyStream(path, (N_TIMES, N_CHANNELS)) as stream:
        for start in range(0, n_windows, 4096):
            n = min(4096, n_windows - start)
            stream.append(generator.standard_normal((n, N_TIMES, N_CHANNELS), dtype=np.float32))


def seconds(action: Callable[[], object]) -> float:
    """Return the median time of some rounds, after one to warm up."""
    action()
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        rounds.append(time.perf_counter() - start)
    return statistics.median(rounds)


def batches_per_numpy(windows: NDArray[np.float32]) -> float:
    """Return windows per second dealt out in shuffled batches into one buffer, by numpy."""
    order = np.random.default_rng(0).permutation(len(windows))
    batch = np.empty((BATCH_SIZE, N_TIMES, N_CHANNELS), np.float32)
    n_batches = len(windows) // BATCH_SIZE

    def deal() -> None:
        for number in range(n_batches):
            indices = order[number * BATCH_SIZE : (number + 1) * BATCH_SIZE]
            # 'clip' writes straight into the buffer; 'raise' would go through a copy.
            np.take(windows, indices, axis=0, out=batch, mode="clip")

    return n_batches * BATCH_SIZE / seconds(deal)


def batches_of_the_trainer(windows: NDArray[np.float32]) -> float:
    """Return windows per second dealt out in shuffled batches by the trainer's own iterator."""
    n = len(windows)
    part = Part(windows, np.zeros(n, np.int64), np.zeros(n, "U1"), np.arange(n))
    order = np.random.default_rng(0).permutation(len(windows))

    def deal() -> None:
        for _ in part.batches(order, BATCH_SIZE):
            pass

    return len(windows) / seconds(deal)


def scaling_speedup(n_windows: int) -> tuple[float, float]:
    """Return seconds of scaling all windows, and how many times as long the published way would take."""
    from sklearn.preprocessing import StandardScaler

    generator = np.random.default_rng(1)
    windows = generator.standard_normal((n_windows, N_TIMES, N_CHANNELS), dtype=np.float32)
    some = windows[:N_WINDOWS_SCALED_SLOWLY]
    slow = seconds(lambda: [StandardScaler().fit_transform(window) for window in some]) / len(some)
    fast = seconds(lambda: normalise_windows(windows))
    return fast, slow * n_windows / fast


def peak_of_loading(path: Path) -> tuple[float, float]:
    """Return seconds of loading and scaling in a fresh process, and its growth in memory over the windows' size."""
    command = [sys.executable, __file__, "--only-load", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took, growth = map(float, done.stdout.split())
    return took, growth


def only_load(path: Path) -> None:
    """Load and scale; print the seconds and by how much the peak resident memory grew, in sizes of the windows."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    windows = read_scaled(path, normalise_windows)
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(took, (after - before) * 1024 / windows.nbytes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n-windows", type=int, default=8192)
    parser.add_argument("--only-load", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_load:
        only_load(options.only_load)
        return
    n = options.n_windows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "windows.npy"
        write_windows(path, n)
        took, peak = peak_of_loading(path)
        mapped = np.load(path, mmap_mode="r")
        in_memory = np.array(mapped)
        print(
            f"{n:,} windows of {N_TIMES} x {N_CHANNELS}, batches of {BATCH_SIZE}, one thread, numpy {np.__version__}"
        )
        print(f"load and scale, fresh process    {took:10.2f} s")
        print(f"peak memory over windows         {peak:10.2f}     (bound 2)")
        print(f"batches, numpy, in memory        {batches_per_numpy(in_memory):10,.0f} /s  (bound 200,000)")
        print(f"batches, numpy, memory-mapped    {batches_per_numpy(mapped):10,.0f} /s  (bound 200,000)")
        print(
            f"batches, the trainer, in memory  {batches_of_the_trainer(in_memory):10,.0f} /s  (bound 200,000)"
        )
    del mapped, in_memory
    fast, times = scaling_speedup(n)
    print(f"scaling alone                    {fast:10.2f} s   {times:.1f} times the published way (bound 10)")


if __name__ == "__main__":
    main()
