"""What has happened so far, a line of JSON for each part, so that a campaign goes on where it was stopped."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.files import atomic_file


@dataclass(frozen=True)
class Part:
    """One grid under faults, or one batch of damaged inputs."""

    kind: str
    happened: Mapping[str, int]
    problems: list[str]
    exits: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Ledger:
    """The parts of a campaign, kept in a file.

    Parameters
    ----------
    path
        JSON lines; created with its first part.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.parts = [Part(**json.loads(line)) for line in lines]

    def add(self, part: Part) -> None:
        """Keep a part."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(part)) + "\n")
        self.parts.append(part)

    def replace(self, number: int, part: Part) -> None:
        """Keep a part in the place of another."""
        self.parts[number] = part
        with atomic_file(self._path) as temporary:
            temporary.write_text("".join(json.dumps(asdict(each)) + "\n" for each in self.parts), "utf-8")

    @property
    def n_happened(self) -> int:
        """Number of faults or inputs so far."""
        return sum(sum(part.happened.values()) for part in self.parts)

    @property
    def problems(self) -> list[str]:
        """What went wrong, with its kind."""
        return [f"{part.kind}: {problem}" for part in self.parts for problem in part.problems]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return sum(part.seconds for part in self.parts)

    def by_kind(self) -> dict[str, list[Part]]:
        """Return the parts of each kind."""
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            found.setdefault(part.kind, []).append(part)
        return found


def summed(counts: list[Mapping[str, int]]) -> Counter[str]:
    """Return the sums by name."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
