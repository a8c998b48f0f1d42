"""Where a cell runs: device, threads and versions, as its record states them."""

import platform
import re
from importlib import metadata
from pathlib import Path

from bench.errors import UsageError
from bench.measure.tf32 import allows_tf32
from bench.results.record import Environment

LIBRARIES = (
    "medmamba-bench",
    "torch",
    "numpy",
    "scipy",
    "scikit-learn",
    "einops",
    "reformer-pytorch",
    "mamba-ssm",
)


UNKNOWN = "unknown"


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that can change a result, those installed."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def cpu_name() -> str:
    """Return the processor's name as the system gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def resolve_device(asked: str) -> str:
    """Return ``cpu`` or ``cuda`` for ``auto``, ``cpu`` or ``cuda``.

    Raises
    ------
    UsageError
        CUDA is asked for and there is none.
    """
    if asked == "cpu":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if asked == "cuda":
        raise UsageError("--device cuda: torch finds no CUDA device here; use --device cpu")
    return "cpu"


def describe(
    device: str, threads: int, precision: str, scan_backend: str | None, attention_backend: str | None = None
) -> Environment:
    """Describe this process's environment; asks torch only about a CUDA device."""
    device_name, driver = (cpu_name(), None) if device == "cpu" else _gpu()
    return Environment(
        device=device,
        device_name=device_name,
        driver=driver,
        threads=threads,
        precision=precision,
        # On a GPU torch's default kernels are not: atomic additions come in any order.
        deterministic=device == "cpu",
        scan_backend=scan_backend,
        attention_backend=attention_backend,
        tf32=allows_tf32(device),
        platform=platform.platform(),
        versions=library_versions(),
    )


def _gpu() -> tuple[str, str]:
    """Return the name of this process's GPU, and its driver with the versions of CUDA and cuDNN."""
    import torch

    version = Path("/proc/driver/nvidia/version")
    text = version.read_text(encoding="utf-8", errors="replace") if version.exists() else ""
    number = re.search(r"\b\d+\.\d+(\.\d+)?\b", text)
    driver = number.group() if number else UNKNOWN
    try:
        name, cudnn = torch.cuda.get_device_name(), torch.backends.cudnn.version()
    except (RuntimeError, AssertionError):
        # A dead driver, or a driver process of Ray without a GPU, has to record a failure too.
        name, cudnn = UNKNOWN, UNKNOWN
    return name, f"{driver}, CUDA {torch.version.cuda}, cuDNN {cudnn}"
