"""Compile the C kernel into the user's cache, once for each version of source and compiler."""

import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

from bench.errors import BenchError
from bench.files import atomic_file, cache_root

SOURCES = tuple(Path(__file__).parent / name for name in ("scan.c", "body.h"))

# Sizes that the kernel and its caller have to agree on: the largest d_state, the steps of a chunk, and the number of
# features to a multiple of which parameters are padded.
MAX_STATE, CHUNK_STEPS, PADDED_LANES = 256, 32, 16
LIMITS = {"MAX_STATE": MAX_STATE, "MAX_CHUNK": CHUNK_STEPS, "PADDED_LANES": PADDED_LANES}

# Fused multiply-add is wanted. NaN, infinity and the order of operations keep their meaning: no -ffast-math.
FLAGS = (
    *("-O3", "-std=gnu11", "-shared", "-fPIC", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi"),
    *(f"-D{name}={value}" for name, value in LIMITS.items()),
)

TIMEOUT_S = 300


class BuildError(BenchError):
    """The kernel cannot be compiled here; the message says why."""


def library_path() -> Path:
    """Return the compiled kernel's file, compiling it first where the cache lacks it.

    Raises
    ------
    BuildError
        No compiler, a compiler that fails, or a cache folder that cannot be written.
    """
    compiler = _compiler()
    path = cache_folder() / f"scan-{_key(compiler)}.so"
    if not path.is_file():
        _compile(compiler, path)
    return path


def cache_folder() -> Path:
    """Return the folder of compiled kernels, below BENCH_CACHE or the user's cache folder."""
    return cache_root() / "native"


def _compiler() -> str:
    wanted = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    found = next(filter(None, map(shutil.which, wanted)), None)
    if found is None:
        raise BuildError(f"no C compiler: {', '.join(wanted)} not found; install one or set CC")
    return found


def _key(compiler: str) -> str:
    """Hash everything that the compiled file depends on."""
    digest = hashlib.sha256()
    for source in SOURCES:
        digest.update(source.read_bytes())
    digest.update("\0".join((compiler, _run(compiler, "--version"), platform.machine(), *FLAGS)).encode())
    return digest.hexdigest()[:16]


def _compile(compiler: str, path: Path) -> None:
    try:
        with atomic_file(path) as temporary:
            _run(compiler, *FLAGS, str(SOURCES[0]), "-o", str(temporary), "-lm")
    except OSError as error:
        raise BuildError(
            f"{path.parent}: cannot be written ({error.strerror}); set BENCH_CACHE to another folder"
        ) from error
    except BuildError:
        raise
    except BenchError as error:
        raise BuildError(f"{error}, by BENCH_CACHE") from error


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)  # noqa: S603 - the user's compiler
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "it said nothing").strip().splitlines()
        said = next((line for line in lines if "error" in line), lines[-1])
        raise BuildError(f"{command[0]} failed with status {error.returncode}: {said}") from error
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{command[0]} did not finish within {TIMEOUT_S} s") from error
    except OSError as error:
        raise BuildError(f"{command[0]} cannot be run ({error.strerror}); set CC to a C compiler") from error
    return done.stdout
