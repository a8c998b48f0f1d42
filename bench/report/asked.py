"""The tables of the cells that a run asked for, where the results folder holds others beside them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.render.table import Table
from bench.report.tables.brief import brief_headline, brief_scores
from bench.results.record import Record
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.suite import Suite, make_suites


def asked_tables(out: Path, keys: Collection[str]) -> tuple[Table, ...]:
    """Return the headline and the results of some cells alone; their titles say what distinguishes them from others.

    Parameters
    ----------
    out
        Results folder.
    keys
        Those of the cells.

    Returns
    -------
    tuple of Table
        None where the folder holds no other cell: the report's own tables say the same.
    """
    records, _ = read_all(out)
    asked = [record for record in records if record.key in keys]
    others = [record for record in records if record.key not in keys]
    if not others:
        return ()
    suites = make_suites(compare(asked))
    return tuple(table for suite in suites for table in _tables_of(out, suite, others))


def _tables_of(out: Path, suite: Suite, others: Sequence[Record]) -> Iterator[Table]:
    tested = {study.dataset: read_predicted(out, study) for study in suite.studies}
    found = [mark for study in suite.studies for mark in _marks(study.everything.records, others)]
    marks = ", ".join(dict.fromkeys(found))
    for table in (brief_scores(suite, "brief"), brief_headline(suite, tested, "brief-headline")):
        yield replace(table, title=f"{table.title} ({marks})") if marks else table


def _marks(asked: Sequence[Record], others: Sequence[Record]) -> list[str]:
    """Return what distinguishes cells from others of the same models and dataset: recipe, data, changed settings."""
    marks = [
        mark
        for record in asked
        for other in others
        if (record.cell.model, record.cell.dataset) == (other.cell.model, other.cell.dataset)
        for mark in _differences(record, other)
    ]
    return list(dict.fromkeys(marks))


def _differences(record: Record, other: Record) -> Iterator[str]:
    if record.cell.recipe != other.cell.recipe:
        yield f"recipe {record.cell.recipe}"
        return
    if record.data.fingerprint != other.data.fingerprint:
        yield f"{record.data.kind} data {record.data.fingerprint[:8]}"
    ours, theirs = _values(record), _values(other)
    for name in sorted({*record.settings["changed"], *other.settings["changed"]}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}={ours.get(name)}"


def _values(record: Record) -> dict[str, Any]:
    settings = record.settings
    return settings["training"] | settings["data"] | settings["hyperparameters"]
