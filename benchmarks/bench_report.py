"""Time and size of the report of the whole grid: 375 cells with 100 epochs each, test parts as large as published.

Run with ``python -m benchmarks.bench_report [FOLDER]``; the folder keeps the records for the next run. Prints seconds
of the processor and of the clock, and the size of the page; fails when they exceed 20 s or 10 MB.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.report.grids import ABLATIONS, PAPER_MODELS, Grid, write_grid

DATASETS = ("ptb", "ptb-xl", "adftd", "apava", "sleep-edf", "uci-har")
SEEDS = (41, 42, 43, 44, 45)
# Subjects and windows of each in the published test parts, rounded.
SIZES = {
    "ptb": (59, 325),
    "ptb-xl": (3520, 11),
    "adftd": (18, 790),
    "apava": (4, 260),
    "sleep-edf": (4, 2100),
    "uci-har": (9, 327),
}
MOST_SECONDS, MOST_MEGABYTES = 20.0, 10.0


def write_whole_grid(out: Path) -> None:
    """Write the records once."""
    if (out / "cells").is_dir():
        return
    write_grid(out, Grid(models=PAPER_MODELS, datasets=DATASETS, seeds=SEEDS, sizes=SIZES, n_epochs=100))
    write_grid(out, Grid(models=ABLATIONS, datasets=("adftd",), seeds=SEEDS, sizes=SIZES, n_epochs=100))


def main(out: Path) -> int:
    """Render the report and print what it took."""
    write_whole_grid(out)
    clock, processor = time.perf_counter(), time.process_time()
    from bench.report import render

    report = render(out, out / "report")
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    megabytes = report.page.stat().st_size / 1e6
    print(
        f"{seconds:.1f} s ({used:.1f} s of one processor), page {megabytes:.2f} MB, {len(report.files)} files"
    )
    return int(seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(Path(folder)))
