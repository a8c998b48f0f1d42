"""The blocks that models stand in: the paper's, their variants, networks beyond the paper, classical, others' own.

Marks and ranks are those of one block, so that the paper's models are ranked as in the paper, whatever stands beside.
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


def _group(model: str) -> Group:
    name = model.partition(" (")[0]
    return _GROUPS.get(name, "braindecode" if name.startswith("braindecode.") else "own")
