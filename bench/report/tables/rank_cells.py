"""A row of average ranks below the scores they are computed from."""

from collections.abc import Sequence
from dataclasses import replace

from bench.render.table import Cell, Footnotes, mark_cells
from bench.stats.statistics import average_ranks
from bench.studies.ranks import complete_scores
from bench.studies.suite import Study


def rank_cells(
    studies: Sequence[Study], models: Sequence[str], metrics: Sequence[str], notes: Footnotes
) -> list[Cell]:
    """Return the average rank of each model (1 is best), a dash with the reason if it has none."""
    run = [model for model in models if any(model in study.groups for study in studies)]
    scores = complete_scores(studies, run, metrics)
    if not scores.rows:
        if not any(study.has_one_protocol for study in studies):
            reason = "not one protocol"
        elif len(run) > 1:
            reason = "no dataset on which two models are complete"
        else:
            reason = "one model has no rank"
        note = notes.number(f"no average rank: {reason}")
        return [Cell(note=note if model in run else None) for model in models]
    note = notes.number(f"average rank without {scores.left_out}") if scores.left_out else None
    ranks = average_ranks(scores.values)
    marks = mark_cells(Cell(-rank) for rank in ranks)
    found = {
        model: replace(mark, mean=float(rank), note=note, unit="rank")
        for model, mark, rank in zip(scores.models, marks, ranks, strict=True)
    }
    return [found.get(model, Cell(note=note if model in run else None)) for model in models]
