"""Faults injected into a small grid and damaged inputs for every reader: nothing may be lost, wrong, stuck or left.

Run with ``python -m benchmarks.campaign [--faults N] [--inputs N] [--minutes M] [--seed S] [--folder DIR] [--again]
[--write]``: hours for all of it. Stopped, it goes on from its folder with the same command. Fails when a finished cell
is lost or trained twice, a byte of a resumed cell differs from the undisturbed run, damaged files give other windows
without a word, and when there is a traceback, a crash, a hang or a process that stays. --again first plays the rounds
that had problems anew, with the same draws: what they found has been mended. --write puts the counts into
docs/reliability.md.
"""

import argparse
import random
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.files import cache_root
from benchmarks.campaign import inputs
from benchmarks.campaign.faults import KINDS, QUICKEST, usable
from benchmarks.campaign.grid import N_CELLS, Round
from benchmarks.campaign.ledger import Ledger, Part
from benchmarks.campaign.page import summary, write
from benchmarks.soak import incomplete

A_SHARE = 20
"""Every kind of fault has its turn until it has made one in so many of all; then come the quickest."""

Play = Callable[[str, int], Part]
"""Plays the part of a kind and a number."""


def main() -> int:
    """Go on with the campaign of a seed until it has had its faults and inputs; print what happened."""
    options = _parser().parse_args()
    folder = (options.folder or cache_root() / "campaign" / f"seed-{options.seed}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    faults, damaged = Ledger(folder / "faults.jsonl"), Ledger(folder / "inputs.jsonl")
    half_s = 30 * options.minutes
    grid = partial(under_faults, folder, undisturbed(folder), options.seed)
    read = partial(damaged_inputs, options.seed)
    if options.again:
        play_again(faults, grid)
        play_again(damaged, read)
    inject(faults, grid, options.faults, time.monotonic() + half_s)
    damage(damaged, read, options.inputs, time.monotonic() + half_s)
    print(summary(options.seed, faults, damaged))
    if options.write:
        write(options.seed, faults, damaged)
    problems = [*faults.problems, *damaged.problems]
    print(*problems, f"{len(problems)} problems", sep="\n")
    return int(bool(problems))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop then; go on another time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where it is kept [default: in the user's cache]")
    parser.add_argument("--again", action="store_true", help="first play the rounds that had problems anew")
    parser.add_argument("--write", action="store_true", help="put the counts into docs/reliability.md")
    return parser


def play_again(ledger: Ledger, play: Play) -> None:
    """Put in the place of every part that had problems what happens now, with the same draws."""
    for number, part in enumerate(ledger.parts):
        if part.problems:
            ledger.replace(number, play(part.kind, number))
            tell(f"again, {part.kind}", ledger.parts[number])


def inject(ledger: Ledger, play: Play, n_faults: int, deadline: float) -> None:
    """Run one small grid after the other under faults of changing kinds."""
    kinds = [kind for kind in KINDS if usable(kind)]
    while ledger.n_happened < n_faults and time.monotonic() < deadline:
        number = len(ledger.parts)
        kind = next_kind(ledger, kinds, n_faults // A_SHARE)
        ledger.add(play(kind, number))
        tell(f"round {number}, {kind}: {ledger.n_happened} of {n_faults} faults", ledger.parts[-1])


def next_kind(ledger: Ledger, kinds: list[str], share: int) -> str:
    """Return the kind of fault that has happened least, or one of the quickest where each has had its share."""
    played = ledger.by_kind()
    # A round without a fault counts as one, or its kind would come for ever.
    counts = {
        kind: sum(max(1, sum(part.happened.values())) for part in played.get(kind, ())) for kind in kinds
    }
    least = min(kinds, key=counts.__getitem__)
    quickest = [kind for kind in QUICKEST if kind in kinds]
    return least if counts[least] < share else quickest[len(ledger.parts) % len(quickest)]


def under_faults(folder: Path, calm: Path, seed: int, kind: str, number: int) -> Part:
    """Play a round to its end; what it leaves is removed unless it had problems."""
    this = Round(folder / f"round-{number}", calm, folder / "cache", random.Random(f"{seed} {number}"))
    shutil.rmtree(this.folder, ignore_errors=True)
    this.folder.mkdir()
    began = time.monotonic()
    with this.undo:
        KINDS[kind](this)
        this.compare()
    if not this.problems:
        shutil.rmtree(this.folder)
    return Part(kind, dict(this.faults), this.problems, dict(this.exits), time.monotonic() - began)


def undisturbed(folder: Path) -> Path:
    """Return the results of the grid without faults: trained once, found again by the same version of the program.

    Raises
    ------
    SystemExit
        The grid did not end well, or results of another grid, such as an older version's, lie there.
    """
    calm, cache = folder / "calm" / "results", folder / "cache"
    cache.mkdir(exist_ok=True)
    calm.parent.mkdir(exist_ok=True)
    this = Round(calm.parent, calm, cache, random.Random(0))
    this.ended(this.start(), allowed=(0,))
    if problems := [*this.problems, *incomplete(calm)]:
        raise SystemExit(f"the undisturbed run did not end well: {problems}")
    if (n_found := len(this.finished())) != N_CELLS:
        raise SystemExit(f"{calm}: {n_found} cells where the grid has {N_CELLS}; choose another --folder")
    return calm


def damage(ledger: Ledger, play: Play, n_inputs: int, deadline: float) -> None:
    """Have one batch of damaged inputs read after the other, the kinds in turn."""
    while ledger.n_happened < n_inputs and time.monotonic() < deadline:
        number = len(ledger.parts)
        kind = inputs.KINDS[number % len(inputs.KINDS)]
        ledger.add(play(kind, number))
        tell(f"inputs for {kind}: {ledger.n_happened} of {n_inputs}", ledger.parts[-1])


def damaged_inputs(seed: int, kind: str, number: int) -> Part:
    """Have a batch of damaged inputs of a kind read."""
    return inputs.batch(kind, 1000 * seed + number, inputs.A_BATCH)


def tell(where: str, part: Part) -> None:
    """Say on stderr how far it is."""
    problems = f"; {len(part.problems)} PROBLEMS: {part.problems[0][:300]}" if part.problems else ""
    print(f"{where}, {part.seconds:.0f} s{problems}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
