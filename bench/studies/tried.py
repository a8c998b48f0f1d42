"""How many configurations each model was given, in words for captions, from the records themselves."""

from collections import defaultdict
from collections.abc import Iterable

from bench.results.record import Record


def n_tried(record: Record) -> int | None:
    """Return how many configurations were tried for a record's model; None under a recipe that tries none."""
    tuned = record.settings.get("tuned")
    return None if tuned is None else int(tuned["tried"])


def tuning_sentence(records: Iterable[Record]) -> str:
    """Say how many configurations of learning rate, weight decay and dropout each model was given; empty if none."""
    by_number: dict[int, set[str]] = defaultdict(set)
    for record in records:
        tried = n_tried(record)
        if tried is not None:
            by_number[tried].add(record.cell.model)
    if not by_number:
        return ""
    if len(by_number) == 1:
        (number,) = by_number
        if number == 1:
            return "Configuration: each model's published learning rate, weight decay and dropout."
        return f"Configurations tried: {number} for each model, the best by validation macro F1 is shown."
    each = "; ".join(
        f"{number} for {', '.join(sorted(names))}" for number, names in sorted(by_number.items())
    )
    return f"Configurations tried: {each}; the best by validation macro F1 is shown."
