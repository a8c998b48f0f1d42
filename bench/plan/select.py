"""Parsing of names on the command line: lists of models and datasets, ranges of seeds."""

import re
from collections.abc import Iterator, Sequence

from bench import plugins
from bench.errors import UsageError, unknown_name

MOST_SEEDS = 10_000
LARGEST_SEED = 2**64 - 1
_RANGE = re.compile(r"([0-9]{1,20})(?:-([0-9]{1,20}))?")


def own_files(text: str) -> tuple[str, list[str]]:
    """Split a comma list into the registered names and the files of a user's own models or datasets."""
    parts = [part.strip() for part in text.split(",")]
    return ",".join(p for p in parts if not plugins.is_file(p)), [p for p in parts if plugins.is_file(p)]


def parse_names(kind: str, text: str, known: Sequence[str], standard: Sequence[str]) -> list[str]:
    """Return the names of a comma list without repetition; ``all`` stands for the ``standard`` ones.

    Raises
    ------
    UsageError
        A name is unknown (the nearest is offered), or there is none.
    """
    chosen: list[str] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name != "all" and name not in known:
            raise unknown_name(kind, name, [*known, "all"])
        chosen.extend(standard if name == "all" else [name])
    if not chosen:
        raise UsageError(f"no {kind} in {text!r}; known: all, {', '.join(known)}")
    return list(dict.fromkeys(chosen))


def parse_seeds(text: str) -> list[int]:
    """Return the seeds of a text such as ``41-45`` or ``41,43``.

    Raises
    ------
    UsageError
        The text is neither, a seed is too large for torch, or there are too many.
    """
    ranges = list(_ranges(text))
    n_seeds = sum(last - first + 1 for first, last in ranges)
    if n_seeds > MOST_SEEDS:
        raise UsageError(f"--seeds {_shown(text)}: {n_seeds} seeds; at most {MOST_SEEDS} in one run")
    return list(dict.fromkeys(seed for first, last in ranges for seed in range(first, last + 1)))


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last < first:
            raise UsageError(f"--seeds {_shown(text)}: expected numbers and ranges such as 41-45 or 41,43")
        if last > LARGEST_SEED:
            raise UsageError(f"--seeds {_shown(text)}: a seed is at most {LARGEST_SEED}")
        yield first, last


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
