"""Faults injected into a small grid and damaged inputs for every reader: nothing may be lost, wrong, stuck or left.

Run with ``python -m benchmarks.campaign [--faults N] [--inputs N] [--minutes M] [--seed S] [--folder DIR] [--write]``:
hours for all of it. Stopped, it goes on from its folder with the same command. Fails when a finished cell is lost or
trained twice, a byte of a resumed cell differs from the undisturbed run, damaged files give other windows without a
word, and when there is a traceback, a crash, a hang or a process that stays. --write puts the counts into
docs/reliability.md.
"""

import argparse
import random
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

from bench.errors import BenchError
from bench.files import cache_root
from benchmarks.campaign import inputs
from benchmarks.campaign.faults import KINDS, ORDER, usable
from benchmarks.campaign.grid import Round
from benchmarks.campaign.ledger import Ledger, Part
from benchmarks.campaign.page import summary, write
from benchmarks.soak import incomplete


def main() -> int:
    """Go on with the campaign of a seed until it has had its faults and inputs; print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop then; go on another time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where it is kept [default: in the user's cache]")
    parser.add_argument("--write", action="store_true", help="put the counts into docs/reliability.md")
    options = parser.parse_args()
    folder = (options.folder or cache_root() / "campaign" / f"seed-{options.seed}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    faults, damaged = Ledger(folder / "faults.jsonl"), Ledger(folder / "inputs.jsonl")
    half_s = 30 * options.minutes
    inject(faults, folder, options.seed, options.faults, time.monotonic() + half_s)
    damage(damaged, options.seed, options.inputs, time.monotonic() + half_s)
    print(summary(options.seed, faults, damaged))
    if options.write:
        write(options.seed, faults, damaged)
    problems = [*faults.problems, *damaged.problems]
    print(*problems, f"{len(problems)} problems", sep="\n")
    return int(bool(problems))


def inject(ledger: Ledger, folder: Path, seed: int, n_faults: int, deadline: float) -> None:
    """Run one small grid after the other under faults of changing kinds."""
    if ledger.n_happened >= n_faults:
        return
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    calm = undisturbed(folder, cache)
    order = [kind for kind in ORDER if usable(kind)]
    while ledger.n_happened < n_faults and time.monotonic() < deadline:
        number = len(ledger.parts)
        kind = order[number % len(order)]
        this = Round(folder / f"round-{number}", calm, cache, random.Random(f"{seed} {number}"))
        ledger.add(played(kind, this))
        tell(f"round {number}, {kind}: {ledger.n_happened} of {n_faults} faults", ledger.parts[-1])


def undisturbed(folder: Path, cache: Path) -> Path:
    """Return the results of the grid without faults, which are made once."""
    calm = folder / "calm" / "results"
    if calm.exists() and not incomplete(calm):
        return calm
    shutil.rmtree(calm.parent, ignore_errors=True)
    calm.parent.mkdir()
    this = Round(calm.parent, calm, cache, random.Random(0))
    this.ended(this.start(), allowed=(0,))
    if problems := [*this.problems, *incomplete(calm)]:
        raise BenchError(f"the undisturbed run did not end well: {problems}")
    return calm


def played(kind: str, this: Round) -> Part:
    """Play a round to its end; what it leaves is removed unless it had problems."""
    shutil.rmtree(this.folder, ignore_errors=True)
    this.folder.mkdir()
    began = time.monotonic()
    with this.undo:
        KINDS[kind](this)
        this.compare()
    if not this.problems:
        shutil.rmtree(this.folder)
    return Part(kind, dict(this.faults), this.problems, dict(this.exits), time.monotonic() - began)


def damage(ledger: Ledger, seed: int, n_inputs: int, deadline: float) -> None:
    """Have one batch of damaged inputs read after the other, the kinds in turn."""
    while (n_left := n_inputs - ledger.n_happened) > 0 and time.monotonic() < deadline:
        number = len(ledger.parts)
        kind = inputs.KINDS[(seed + number) % len(inputs.KINDS)]
        began = time.monotonic()
        part = inputs.batch(kind, 1000 * seed + number, min(inputs.A_BATCH, n_left))
        ledger.add(replace(part, seconds=time.monotonic() - began))
        tell(f"inputs for {kind}: {ledger.n_happened} of {n_inputs}", ledger.parts[-1])


def tell(where: str, part: Part) -> None:
    """Say on stderr how far it is."""
    problems = f"; {len(part.problems)} PROBLEMS: {part.problems[0][:300]}" if part.problems else ""
    print(f"{where}, {part.seconds:.0f} s{problems}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
