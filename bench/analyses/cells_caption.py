"""The part of a caption that describes the trained cells of an analysis."""

from bench.analyses.analysed_cells import AnalysedCells
from bench.paper.names import short_name
from bench.results.record import DataDescription
from bench.studies import kinds
from bench.studies.caption import numbers, plural


def data_caption(data: DataDescription) -> str:
    """Describe data, split and test part."""
    test = data.parts["test"]
    return (
        f"{kinds.sentence(data)} ({data.version}), split {data.split_origin}, "
        f"{plural(test.n_subjects, 'test subject')}, {plural(test.n_windows, 'test window')}"
    )


def cells_caption(cells: AnalysedCells) -> str:
    """Describe model, dataset, recipe, changed settings, seeds and data, in two sentences."""
    changed = f", changed: {cells.changes}" if cells.changes else ""
    plural = "s" if len(cells.seeds) > 1 else ""
    return (
        f"{cells.model} on {short_name(cells.dataset)}, recipe {cells.recipe}{changed}, seed{plural} "
        f"{numbers(cells.seeds)}. Data: {data_caption(cells.data)}."
    )
