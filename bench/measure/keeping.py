"""Whether the timed processes have enough memory to keep what they free."""

from collections.abc import Iterable

from bench.machine import available_bytes
from bench.measure.probe import Probe
from bench.measure.workload import Mode, Subject

KEPT: dict[Mode, float] = {"inference": 2.7, "training": 1.2}
"""Largest observed peak of a process that keeps freed memory, as a multiple of its peak otherwise."""

SHORT_OF_MEMORY = "memory is too short for processes to keep what they free: times include fetching it again"


def may_keep(together: Iterable[tuple[Subject, Probe]]) -> bool:
    """Tell whether processes that are alive at the same time may keep what they free.

    They must fit on the machine together, and each within its own limit.
    """
    kept = [(KEPT[probe.workload.mode] * probe.memory_bytes, subject) for subject, probe in together]
    if any(
        subject.memory_limit_bytes is not None and n_bytes > subject.memory_limit_bytes
        for n_bytes, subject in kept
    ):
        return False
    return sum(n_bytes for n_bytes, _ in kept) <= available_bytes()
