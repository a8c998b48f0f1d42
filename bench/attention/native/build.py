"""What attention's kernel is compiled from, and the size that it and its caller have to agree on."""

from pathlib import Path

from bench.native.build import Kernel

CHUNK_KEYS = 64

KERNEL = Kernel(
    name="attention",
    sources=tuple(Path(__file__).parent / name for name in ("attention.c", "body.h")),
    limits={"CHUNK_KEYS": CHUNK_KEYS},
)
