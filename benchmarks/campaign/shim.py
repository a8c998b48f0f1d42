"""A library to preload: calls on files below a folder fail now and then, or the wall clock jumps."""

import os
import shutil
import subprocess
from pathlib import Path

from bench.errors import BenchError

SOURCE = Path(__file__).with_name("shim.c")


def compiled(folder: Path) -> Path:
    """Compile the library into a folder unless it is there, and return its path.

    Raises
    ------
    BenchError
        There is no C compiler, or it refuses.
    """
    library = folder / "shim.so"
    if library.exists() and library.stat().st_mtime > SOURCE.stat().st_mtime:
        return library
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise BenchError("CC=cc: no C compiler for faults of disk and clock; install one, or set CC")
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{SOURCE}: not compiled ({done.stderr.strip()[-300:]}); mend it")
    return library


def failing(library: Path, folder: Path, *, code: int, every: int, seed: int, ledger: Path) -> dict[str, str]:
    """Return the environment in which one call in ``every`` on files below a folder fails with the error ``code``."""
    return {
        "LD_PRELOAD": str(library),
        "CAMPAIGN_FOLDER": f"{folder}/",
        "CAMPAIGN_ERRNO": str(code),
        "CAMPAIGN_EVERY": str(every),
        "CAMPAIGN_SEED": str(seed),
        "CAMPAIGN_LEDGER": str(ledger),
    }


def jumping(library: Path, *, most_s: int, seed: int, ledger: Path) -> dict[str, str]:
    """Return the environment in which the wall clock is wrong by up to ``most_s``, anew every two seconds."""
    return {
        "LD_PRELOAD": str(library),
        "CAMPAIGN_CLOCK_S": str(most_s),
        "CAMPAIGN_SEED": str(seed),
        "CAMPAIGN_LEDGER": str(ledger),
    }


def noted(ledger: Path) -> int:
    """Return how many faults the library has caused."""
    return len(ledger.read_text(encoding="ascii").splitlines()) if ledger.exists() else 0
