"""Disturbances during a measurement: other programs' load, and a GPU's clock if its driver reports it."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from bench.results.efficiency_record import OTHERS_WERE_BUSY

BUSY_CORES = 0.5
CLOCK_CHANGE = 0.05
WINDOW_S = 5.0
"""Load is averaged over windows of at least this long: the system counts time in hundredths of a second."""
SHORTEST_S = 1.0

Usage = Callable[[], tuple[float, float]]
"""Returns the seconds that all cores have worked since a fixed time, and our share of them."""


def usage() -> tuple[float, float]:
    """Return the CPU time of everything on this machine, and that of this process with all that it has started."""
    import psutil

    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "steal", 0.0)
    # Guests are part of user already.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    this, ours = psutil.Process(), 0.0
    for process in (this, *this.children(recursive=True)):
        try:
            ours += sum(process.cpu_times()[:4])  # its own, and that of its children that have ended
        except psutil.NoSuchProcess:
            continue
    return total - idle, ours


class Watch:
    """Observes the machine between the runs of a measurement, from its start to its end."""

    def __init__(
        self, device: str, *, usage: Usage = usage, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.device = device
        self.other_cores: list[float] = []
        self.clocks_mhz: list[int] = []
        self._usage, self._now = usage, now
        self._since_s, self._before = now(), usage()

    def look(self) -> None:
        """Take a reading; call it after every run."""
        if self.device == "cuda" and (clock := gpu_clock_mhz()) is not None:
            self.clocks_mhz.append(clock)
        if self._now() - self._since_s >= WINDOW_S:
            self._close_window()

    def warnings(self) -> tuple[str, ...]:
        """End the watch; return warnings about the machine for readers of the numbers."""
        if self._now() - self._since_s >= SHORTEST_S:
            self._close_window()
        found = []
        if self.other_cores and max(self.other_cores) > BUSY_CORES:
            mean = sum(self.other_cores) / len(self.other_cores)
            found.append(
                f"{OTHERS_WERE_BUSY} {max(self.other_cores):.1f} cores busy during the measurement, "
                f"{mean:.1f} on average"
            )
        if self.device == "cuda" and not self.clocks_mhz:
            found.append("the GPU's clock was not observed: pip install 'medmamba-bench[gpu-clocks]'")
        if self.clocks_mhz and min(self.clocks_mhz) < (1 - CLOCK_CHANGE) * max(self.clocks_mhz):
            found.append(
                f"the GPU's clock moved between {min(self.clocks_mhz)} and {max(self.clocks_mhz)} MHz"
            )
        return tuple(found)

    def _close_window(self) -> None:
        now, (total, ours) = self._now(), self._usage()
        others_s = (total - self._before[0]) - (ours - self._before[1])
        self.other_cores.append(max(0.0, others_s) / (now - self._since_s))
        self._since_s, self._before = now, (total, ours)


def gpu_clock_mhz() -> int | None:
    """Return the clock of the first visible GPU's multiprocessors; None where NVML does not tell."""
    found = _nvml()
    if found is None:
        return None
    nvml, handle = found
    try:
        return int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
    except nvml.NVMLError:
        return None


@cache
def _nvml() -> tuple[Any, Any] | None:
    """Return NVML and its handle of the first visible GPU, if the package nvidia-ml-py and a driver are there."""
    try:
        import pynvml  # pyright: ignore[reportMissingImports] an optional extra
    except ImportError:
        return None
    import torch

    try:
        pynvml.nvmlInit()
        uuid = torch.cuda.get_device_properties(0).uuid
        return pynvml, pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}".encode())
    except pynvml.NVMLError:
        return None
