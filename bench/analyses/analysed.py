"""Which trained cells an analysis looked at: the part of its record that its caption is made from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.analyses.analysis_record import Part
from bench.results.record import DataDescription, Record
from bench.studies.aggregate import Condition
from bench.studies.comparability import void_reason


class AnalysedCells(Part):
    """Cells of one model on one dataset that differ in the seed alone. ``changes`` is what a preset or a user set."""

    model: str
    dataset: str
    recipe: str
    changes: str
    seeds: tuple[int, ...]
    keys: tuple[str, ...]
    data: DataDescription

    @property
    def void(self) -> str:
        """Why numbers of these cells may not be set against the paper's; an empty text where they may."""
        return void_reason(data=self.data, recipe=self.recipe, changes=self.changes, seeds=self.seeds)

    @classmethod
    def of(cls, records: Sequence[Record]) -> "AnalysedCells":
        """Describe the cells of records, at least one, ordered by seed."""
        first = records[0]
        return cls(
            model=first.cell.model,
            dataset=first.cell.dataset,
            recipe=first.cell.recipe,
            changes=Condition.of(first).changes,
            seeds=tuple(record.cell.seed for record in records),
            keys=tuple(record.key for record in records),
            data=first.data,
        )


def read_analysed(out: Path, name: str) -> list[AnalysedCells]:
    """Return the cells that the records of an analysis are of, wherever those keep them; none where it was not run.

    A record that cannot be read has none: who reads it as what it is says why.
    """
    found: list[AnalysedCells] = []
    for path in sorted((out / "analyses" / name).glob("*.json")):
        try:
            _collect(json.loads(path.read_text(encoding="utf-8")), found)
        except ValueError:
            continue
    return found


def _collect(node: Any, found: list[AnalysedCells]) -> None:
    if isinstance(node, dict):
        if node.keys() == AnalysedCells.model_fields.keys():
            found.append(AnalysedCells.model_validate(node))
            return
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            _collect(one, found)
