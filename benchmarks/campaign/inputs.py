"""Damaged files for every reader, importer and record, read in processes with little memory and time."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from benchmarks.campaign.ledger import Part

READERS = (
    *("adftd", "adftd-7.3", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har", "weather"),
    *("npz", "npy", "medformer"),
)
"""Kinds of `tests.datasets.fuzzing`, which limits memory and the time of each input itself."""
RESULTS = "results"
"""Records, packs, predictions and arrays: `tests.results.fuzzing`."""
KINDS = (*READERS, RESULTS)
A_BATCH = 42
LONGEST_S = 1800.0
_MOST_BYTES = 6 << 30


def batch(kind: str, seed: int, n_inputs: int) -> Part:
    """Read so many damaged inputs of a kind and return how that went, and how long it took."""
    began = time.monotonic()
    return replace(_read(kind, seed, n_inputs), seconds=time.monotonic() - began)


def _read(kind: str, seed: int, n_inputs: int) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        words = ["tests.datasets.fuzzing", kind] if kind != RESULTS else ["tests.results.fuzzing"]
        try:
            done = subprocess.run(
                [sys.executable, "-m", *words, str(seed), str(n_inputs), folder],
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST_S,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                preexec_fn=_limit_memory,
            )
        except subprocess.TimeoutExpired:
            return Part(kind=kind, happened={}, problems=[f"hang: not read after {LONGEST_S:.0f} s"])
    if done.returncode != 0:
        return Part(kind=kind, happened={}, problems=[f"crash: {done.returncode}: {done.stderr[-1500:]}"])
    return _summed(kind, [json.loads(line) for line in done.stdout.splitlines()])


def _summed(kind: str, outcomes: list[dict[str, Any]]) -> Part:
    happened: Counter[str] = Counter()
    problems = []
    for outcome in outcomes:
        happened.update({name: n for name, n in outcome.items() if isinstance(n, int)})
        problems += outcome["wrong"]
    return Part(kind=kind, happened=dict(happened), problems=problems)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, resource.RLIM_INFINITY))
