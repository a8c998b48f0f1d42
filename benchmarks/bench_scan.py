"""Speed, memory and accuracy of the scan backends beside their aims, as markdown.

    python -m benchmarks.bench_scan [--rounds 5] [--aims-only] [--write]

Linux, on the CPU; needs the package mambapy for comparison. Let nothing else run meanwhile: the numbers are
medians of interleaved rounds of CPU time, which other work still disturbs through caches and memory.
"""

import argparse
import datetime
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.marks import write_between_marks

MAMBAPY = "mambapy==1.2.0"


def main() -> int:
    """Measure and print the tables; return 2 when mambapy is missing."""
    parser = argparse.ArgumentParser(description="Measure the scan backends beside their aims.")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each call (default 5)")
    parser.add_argument("--aims-only", action="store_true", help="leave out the table of all shapes")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md, too")
    asked = parser.parse_args()
    if importlib.util.find_spec("mambapy") is None:
        print(f"the rival is not installed: pip install {MAMBAPY}", file=sys.stderr)
        return 2
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, and for the processes that measure memory
    import torch

    torch.set_num_threads(1)
    parts = {"aims": aims_part} if asked.aims_only else {"aims": aims_part, "all shapes": shapes_part}
    for title, part in parts.items():
        lines = []
        for line in part(asked.rounds):
            print(line, flush=True)
            lines.append(line)
        if asked.write:
            write_between_marks(title, "bench_scan", lines)
    return 0


def aims_part(rounds: int) -> Iterator[str]:
    """Describe the machine and measure the aims."""
    from benchmarks.scan import aims

    yield machine()
    yield ""
    yield from aims.table(rounds)


def shapes_part(rounds: int) -> Iterator[str]:
    """Measure all shapes."""
    from benchmarks.scan import grid

    yield from grid.table(rounds)


def machine() -> str:
    """Describe what the numbers were measured on."""
    import torch

    from bench.native.library import ISA_NAMES
    from bench.scan.native import library

    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )
    return (
        f"Measured on {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}: {model}, {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, torch {torch.__version__}, {MAMBAPY}, "
        f"native kernel on {ISA_NAMES[library.SCAN.best_isa]}; load average before: {os.getloadavg()[0]:.1f}."
    )


if __name__ == "__main__":
    sys.exit(main())
