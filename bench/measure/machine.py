"""What the machine was doing beside a measurement: load from others, and a GPU's clock where its driver tells."""

import os
from dataclasses import dataclass
from importlib.util import find_spec

BUSY_LOAD = 0.5
CLOCK_CHANGE = 0.05


@dataclass(frozen=True)
class Reading:
    """Load average over the last minute, and the clock of the GPU's multiprocessors in MHz; None where unknown."""

    load: float | None
    gpu_clock_mhz: int | None


def read_machine(device: str) -> Reading:
    """Read load and clock now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Reading(load, _gpu_clock_mhz() if device == "cuda" else None)


def _gpu_clock_mhz() -> int | None:
    """Ask NVML, if the package nvidia-ml-py and a driver are there, for the first visible device."""
    if find_spec("pynvml") is None:
        return None
    import pynvml  # pyright: ignore[reportMissingImports]
    import torch

    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}".encode())
        return int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM))
    except pynvml.NVMLError:
        return None  # shown as unknown; no number depends on it


def warnings_of(before: Reading, after: Reading, *, threads: int, clocks_mhz: list[int]) -> tuple[str, ...]:
    """Return what a reader of the numbers must know of the machine.

    Parameters
    ----------
    before, after
        Readings at both ends; the measurement itself adds ``threads`` to the load.
    threads
        Threads of the measurement.
    clocks_mhz
        The GPU's clock in every turn, empty where unknown.
    """
    found = []
    if before.load is not None and before.load > BUSY_LOAD:
        found.append(f"load average {before.load:.1f} before the measurement: other work was running")
    if after.load is not None and after.load > threads + BUSY_LOAD:
        found.append(
            f"load average {after.load:.1f} at its end, {threads} of it ours at most: other work was running"
        )
    if clocks_mhz and min(clocks_mhz) < (1 - CLOCK_CHANGE) * max(clocks_mhz):
        found.append(f"the GPU's clock moved between {min(clocks_mhz)} and {max(clocks_mhz)} MHz")
    return tuple(found)
