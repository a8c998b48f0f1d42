"""What a process does with memory that it frees."""

import ctypes
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from bench.measure.memory import keep_freed_memory

if "keep" in sys.argv:
    keep_freed_memory()
faults = []
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = b"x" * 2**27
    del block
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(faults[-1])
"""


def faults_of_a_third_block(*arguments: str) -> int:
    """Return how many pages a process gets for a block of 128 MiB after it has freed two such blocks."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="the allocator is glibc's"
)
def test_kept_memory_is_used_again() -> None:
    assert faults_of_a_third_block("keep") < 1000 < faults_of_a_third_block()
