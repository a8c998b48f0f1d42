"""Compile a C kernel into the user's cache, once for each version of source and compiler."""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.errors import BenchError
from bench.files import atomic_file, cache_root

HEADERS = tuple(sorted(Path(__file__).parent.glob("*.h")))

# Fused multiply-add is wanted. NaN, infinity and the order of operations keep their meaning: no -ffast-math.
FLAGS = ("-O3", "-std=gnu11", "-shared", "-fPIC", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi")

TIMEOUT_S = 300


class BuildError(BenchError):
    """The kernel cannot be compiled here; the message says why."""


class Kernel(NamedTuple):
    """What is compiled: the first source, which includes the others, and the limits that its caller relies on."""

    name: str
    sources: Sequence[Path]
    limits: dict[str, int]

    def flags(self) -> tuple[str, ...]:
        """Return what the compiler is told."""
        return (
            *FLAGS,
            *(f"-D{name}={value}" for name, value in self.limits.items()),
            f"-I{Path(__file__).parent}",
            f"-I{self.sources[0].parent}",
        )


def library_path(kernel: Kernel) -> Path:
    """Return the compiled kernel's file, compiling it first where the cache lacks it.

    Raises
    ------
    BuildError
        No compiler, a compiler that fails, or a cache folder that cannot be written.
    """
    compiler = find_compiler()
    path = cache_folder() / f"{kernel.name}-{key(kernel, compiler)}.so"
    if not path.is_file():
        _compile(kernel, compiler, path)
    return path


def cache_folder() -> Path:
    """Return the folder of compiled kernels, below BENCH_CACHE or the user's cache folder."""
    return cache_root() / "native"


def find_compiler() -> tuple[str, ...]:
    """Return the path of the user's C compiler, and the arguments that CC gives with it.

    Raises
    ------
    BuildError
        There is none.
    """
    given = os.environ.get("CC", "")
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise BuildError(
            f"CC={given}: cannot be split into words ({error}); set CC to a C compiler"
        ) from error
    name, *arguments = words or [""]
    wanted = [name] if name else ["cc", "gcc", "clang"]
    found = next(filter(None, map(shutil.which, wanted)), None)
    if found is None:
        raise BuildError(f"no C compiler: {', '.join(wanted)} not found; install one or set CC")
    return (found, *arguments)


def key(kernel: Kernel, compiler: Sequence[str]) -> str:
    """Hash everything that the compiled file depends on, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for source in (*kernel.sources, *HEADERS):
        digest.update(source.read_bytes())
    flags = [flag for flag in kernel.flags() if not flag.startswith("-I")]
    digest.update("\0".join((*compiler, _run(*compiler, "--version"), platform.machine(), *flags)).encode())
    return digest.hexdigest()[:16]


def _compile(kernel: Kernel, compiler: Sequence[str], path: Path) -> None:
    try:
        with atomic_file(path) as temporary:
            _run(*compiler, *kernel.flags(), str(kernel.sources[0]), "-o", str(temporary), "-lm")
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
