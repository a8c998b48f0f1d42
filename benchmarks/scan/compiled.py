"""What the Triton kernels of the scan compile to for a GPU that need not be there, as markdown.

    python -m benchmarks.scan.compiled

Registers and spills are those of a thread, shared memory is that of a program (one warp). NVIDIA's come from
`cuobjdump`, which Triton brings, AMD's from the assembly.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from bench.scan.triton import backend, kernels

TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),  # A100
    "sm_86": GPUTarget("cuda", 86, 32),  # RTX 3090
    "sm_90": GPUTarget("cuda", 90, 32),  # H100
    "gfx942": GPUTarget("hip", "gfx942", 64),  # MI300
}
# MedMamba's inner width and state by its published settings.
DIM, D_STATE = 256, 16

SERIES = ("u", "delta", "B", "C", "dy")
NUMBERS = ("reverse", "n_times", "n_directions", "dim", "n_rows")


class Compiled(NamedTuple):
    """What a kernel takes: registers and spilled bytes of a thread, shared memory in bytes, size in bytes."""

    registers: int
    shared: int
    spills: int
    binary: int


def compile_kernel(kernel: str, target: str, *, keep: bool = True) -> Compiled:
    """Compile ``forward`` or ``backward`` in float32 for a target; ``keep``: as in training."""
    function = getattr(kernels, kernel)
    constants: dict[str, Any] = dict(backend.sizes(D_STATE, torch.float32))
    constants |= {"KEEP": keep} if kernel == "forward" else {"GROUP": backend.GROUP_STEPS}
    constants["BLOCK"] = backend.block_size(kernel, DIM, D_STATE, backend.TILE[torch.float32])
    types = {name: _type(name, constants) for name in function.arg_names}
    source = ASTSource(function, types, constants, _divisible(types))
    made = triton.compile(source, TARGETS[target], {"num_warps": 1, "enable_fp_fusion": True})
    if "cubin" in made.asm:
        registers, spills = _of_cubin(made.asm["cubin"])
    else:
        registers, spills = _of_assembly(made.asm["amdgcn"])
    binary = made.asm.get("cubin") or made.asm["hsaco"]
    return Compiled(registers, made.metadata.shared, spills, len(binary))


def _type(name: str, constants: dict[str, Any]) -> Any:
    if name in constants:
        return "constexpr"
    if name in SERIES:
        return ("*fp32", "i32", "i32", "i32")
    return "i32" if name in NUMBERS else "*fp32"


def _divisible(types: dict[str, Any]) -> dict[tuple[int, ...], Any]:
    """Mark what a launch finds to be divisible by 16: addresses, strides and the number of features."""
    paths: list[tuple[int, ...]] = []
    for at, (name, kind) in enumerate(types.items()):
        if name in SERIES:
            paths += [(at, part) for part in range(len(kind))]
        elif kind == "*fp32" or name == "dim":
            paths.append((at,))
    return {path: [["tt.divisibility", 16]] for path in paths}


def _of_cubin(cubin: bytes) -> tuple[int, int]:
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        said = subprocess.run(
            [tool, "--dump-resource-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    # A kernel that keeps nothing on the stack by itself has nothing but spills there.
    registers, stack, local = (
        int(re.findall(rf"{name}:(\d+)", said)[0]) for name in ("REG", "STACK", "LOCAL")
    )
    return registers, stack + local


def _of_assembly(text: str) -> tuple[int, int]:
    # Scalar registers that are short overflow into lanes of vector registers, not into memory.
    found = {name: int(value) for name, value in re.findall(r"\.(\w+):\s+(\d+)\s*$", text, re.MULTILINE)}
    return found["vgpr_count"], found["vgpr_spill_count"] + found["private_segment_fixed_size"]


def table() -> Iterator[str]:
    """Yield the rows."""
    yield f"Triton {triton.__version__}, float32, {DIM} features, d_state {D_STATE}."
    yield ""
    yield "| architecture | kernel | registers | shared memory, bytes | spills, bytes | binary, KB |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for target in TARGETS:
        for title, kernel, keep in (
            ("forward, inference", "forward", False),
            ("forward, training", "forward", True),
            ("backward", "backward", True),
        ):
            made = compile_kernel(kernel, target, keep=keep)
            sizes = f"{made.registers} | {made.shared} | {made.spills} | {made.binary // 1000}"
            yield f"| {target} | {title} | {sizes} |"


def main() -> int:
    """Print the table."""
    for line in table():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
