"""The blocks that models stand in: the paper's, their variants, networks beyond the paper, classical, others' own.

Marks and ranks of a table of scores are those of one block, so that the paper's models are ranked as in the paper,
whatever stands beside. What compares models of several blocks says so by `together`.
"""

from collections.abc import Iterable

from bench.models.catalogue import ENTRIES, ESTIMATORS, Group

_HEADINGS: dict[Group, str] = {
    "paper": "models of the paper",
    "variant": "variants of these",
    "beyond": "networks beyond the paper",
    "classical": "classical estimators",
    "braindecode": "networks of braindecode",
    "own": "models of a user",
}
_GROUPS: dict[str, Group] = {entry.name: entry.group for entry in (*ENTRIES, *ESTIMATORS)}


def blocks_of(models: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the models of each block that has any, by its heading; within a block they keep their order.

    Models may be labels with changed hyperparameters in brackets, which stand with the model that is changed.
    """
    chosen = list(models)
    blocks = {
        heading: tuple(model for model in chosen if _group(model) == group)
        for group, heading in _HEADINGS.items()
    }
    return {heading: members for heading, members in blocks.items() if members}


def together(models: Iterable[str], verb: str) -> str:
    """Return a sentence on the blocks of models that are compared with each other; empty where it is one block.

    ``verb`` says what is done with them, such as ``Ranked``; a blank follows the sentence.
    """
    headings = list(blocks_of(models))
    return f"{verb} together: {', '.join(headings)}. " if len(headings) > 1 else ""


def _group(model: str) -> Group:
    name = model.partition(" (")[0]
    return _GROUPS.get(name, "braindecode" if name.startswith("braindecode.") else "own")
