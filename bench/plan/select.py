"""Parsing of names on the command line: lists of models and datasets, ranges of seeds."""

from collections.abc import Sequence

from bench import plugins
from bench.errors import UsageError, unknown_name


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
        The text is neither.
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or (dash and int(last) < int(first)):
            raise UsageError(f"--seeds {text!r}: expected numbers and ranges such as 41-45 or 41,43")
        seeds.extend(range(int(first), int(last if dash else first) + 1))
    return list(dict.fromkeys(seeds))
