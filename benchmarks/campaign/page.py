"""The counts of a campaign as tables, and docs/reliability.md where the last run's stand."""

import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tabulate import tabulate

from bench.files import atomic_file
from benchmarks.campaign.ledger import Ledger, summed

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
START, END = "<!-- written by benchmarks.campaign -->\n", "<!-- end of what it writes -->"
_LIBRARIES = ("torch", "numpy", "scipy", "mne", "wfdb", "h5py", "filelock")


def summary(seed: int, faults: Ledger, inputs: Ledger) -> str:
    """Return the tables of both halves, with seed, versions and duration."""
    versions = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    n_problems = len(faults.problems) + len(inputs.problems)
    lines = [
        f"Seed {seed}, {datetime.now(UTC):%Y-%m-%d}: {faults.n_happened} faults in {len(faults.parts)} grids and "
        f"{inputs.n_happened} damaged inputs, {(faults.seconds + inputs.seconds) / 3600:.1f} hours, "
        f"{n_problems} problems. Python {platform.python_version()} on {sys.platform}, {versions}.",
        "",
        fault_table(faults),
        "",
        input_table(inputs),
    ]
    return "\n".join(lines)


def fault_table(ledger: Ledger) -> str:
    """Return a row for each kind of fault: how many, in how many grids, how the runs ended."""
    rows = []
    for kind, parts in ledger.by_kind().items():
        happened, exits = summed([part.happened for part in parts]), summed([part.exits for part in parts])
        rows.append(
            (kind, len(parts), _listed(happened), _listed(exits), sum(len(part.problems) for part in parts))
        )
    return tabulate(
        rows, headers=["round", "grids", "faults", "exit codes of runs", "problems"], tablefmt="github"
    )


def input_table(ledger: Ledger) -> str:
    """Return a row for each kind of input: how many, and what came out."""
    rows = []
    for kind, parts in ledger.by_kind().items():
        happened = summed([part.happened for part in parts])
        rows.append((kind, happened.total(), _listed(happened), sum(len(part.problems) for part in parts)))
    return tabulate(rows, headers=["files", "inputs", "came out as", "problems"], tablefmt="github")


def write(seed: int, faults: Ledger, inputs: Ledger) -> None:
    """Replace what stands between the page's two marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, found, after = rest.partition(END)
    assert found, f"{PAGE} has no marks"
    with atomic_file(PAGE) as temporary:
        temporary.write_text(
            f"{before}{START}\n{summary(seed, faults, inputs)}\n\n{END}{after}", encoding="utf-8"
        )


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
