"""``make bench``: every benchmark, one after the other; ``python -m benchmarks NAME ...`` runs some of them."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def main() -> int:
    """Run the benchmarks named, or all; return 1 if one of them failed."""
    chosen = sys.argv[1:] or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        print(f"no benchmark '{unknown[0]}'; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    failed = []
    for name in chosen:
        print(f"\n## {name}\n", flush=True)
        if subprocess.run(
            [sys.executable, "-m", f"benchmarks.bench_{name}"], cwd=FOLDER.parent, check=False
        ).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
