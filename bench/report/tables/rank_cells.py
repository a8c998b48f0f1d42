"""A row of average ranks below the scores they are computed from."""

from collections.abc import Sequence
from dataclasses import replace

from bench.render.table import Cell, Footnotes, mark_cells
from bench.stats.statistics import average_ranks
from bench.studies.model_blocks import blocks_of
from bench.studies.ranks import complete_scores
from bench.studies.suite import Study


def rank_cells(
    studies: Sequence[Study], models: Sequence[str], metrics: Sequence[str], notes: Footnotes
) -> list[Cell]:
    """Return the average rank of each model in its block (1 is best), a dash with the reason if it has none.

    ``models`` are in the order of `blocks_of`. A note says over which block a rank is if there are several.
    """
    blocks = blocks_of(models)
    return [
        cell
        for heading, members in blocks.items()
        for cell in _block(studies, members, metrics, notes, f", {heading}" if len(blocks) > 1 else "")
    ]


def _block(
    studies: Sequence[Study], models: Sequence[str], metrics: Sequence[str], notes: Footnotes, among: str
) -> list[Cell]:
    run = [model for model in models if any(model in study.groups for study in studies)]
    scores = complete_scores(studies, run, metrics)
    if not scores.rows:
        if not any(study.has_one_protocol for study in studies):
            reason = "not one protocol"
        elif len(run) > 1:
            reason = "no dataset on which two models are complete"
        else:
            reason = "one model has no rank"
        note = notes.number(f"no average rank{among}: {reason}")
        return [Cell(note=note if model in run else None) for model in models]
    without = f" without {scores.left_out}" if scores.left_out else ""
    note = notes.number(f"average rank{among}{without}") if among or without else None
    ranks = average_ranks(scores.values)
    marks = mark_cells(Cell(-rank) for rank in ranks)
    found = {
        model: replace(mark, mean=float(rank), note=note, unit="rank")
        for model, mark, rank in zip(scores.models, marks, ranks, strict=True)
    }
    return [found.get(model, Cell(note=note if model in run else None)) for model in models]
