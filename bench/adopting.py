"""Imported by the process that workers are forked from, and by no other: how it ends, and what it adopts."""

import sys
import warnings
from types import TracebackType

from bench.descendants import adopt_orphans


def _die_in_one_line(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Say why the imports that come next have failed; whoever wants a process then starts another of these."""
    why = " ".join(f"{kind.__name__}: {error}".split())
    print(f"the process that workers are forked from ended while it started ({why})", file=sys.stderr)


sys.excepthook = _die_in_one_line
# What a killed worker leaves.
adopt_orphans()
# Python's fork server says this of every adopted process that ends.
warnings.filterwarnings("ignore", message="forkserver: waitpid returned unexpected pid")
