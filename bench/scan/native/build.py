"""What the scan's kernel is compiled from, and the sizes that it and its caller have to agree on."""

from pathlib import Path

from bench.native.build import Kernel

# The largest d_state, the steps of a chunk, and the number of features to a multiple of which parameters are padded.
MAX_STATE, CHUNK_STEPS, PADDED_LANES = 256, 32, 16

KERNEL = Kernel(
    name="scan",
    sources=tuple(Path(__file__).parent / name for name in ("scan.c", "body.h")),
    limits={"MAX_STATE": MAX_STATE, "MAX_CHUNK": CHUNK_STEPS, "PADDED_LANES": PADDED_LANES},
)
