"""The paper's propositions put to the test, one after another; each has a file of its own.

Source: MedMamba paper, section "Method": `noise_suppression` and `noise_implication`, `optimal_mixer`,
`scale_mismatch`, `scan_cost` and `symmetric_context` hold its statements in this order.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.channel_mixing.compute import mixing_layer
from bench.analyses.context import Context, model_names, trained_on
from bench.analyses.theory.noise_implication import Tally, check_implication, tally_trained
from bench.analyses.theory.noise_suppression import (
    N_POINTS,
    ClassMoments,
    check_noise_suppression,
    class_moments,
    draw_points,
    jacobians,
    not_checked,
    subspace_bases,
)
from bench.analyses.theory.optimal_mixer import Problem, check_optimal_mixer, data_problem, random_problems
from bench.analyses.theory.record import Check, Options, TheoryRecord
from bench.analyses.theory.scale_mismatch import check_scale_mismatch
from bench.analyses.theory.scan_cost import check_scan_cost
from bench.analyses.theory.symmetric_context import check_symmetric_context
from bench.analyses.trained import load_trained, trained_data
from bench.results.record import Record
from bench.results.store import read_all
from bench.train.seeding import torch_generator

SEED = 41


def run(context: Context, options: Options) -> None:
    """Check the paper's five propositions numerically."""
    (model,) = model_names(options.models)[:1]
    if options.datasets is None:
        names = trained_on(read_all(context.out)[0], model)
    else:
        names = context.dataset_names(options.datasets)
    context.write(check_all(context, [context.cells(model, name, options.recipe) for name in names]))


def check_all(context: Context, trained: Sequence[list[Record]]) -> TheoryRecord:
    """Check all propositions.

    Parameters
    ----------
    context
        The run.
    trained
        Cells whose mixing layers are analysed, one list per dataset, which differ in the seed alone; without
        any, no trained mixer is checked against the first proposition's premise.

    Raises
    ------
    UsageError
        A model does not mix channels.
    RecordError, DataError
        Weights or data are not those of the records.
    """
    found: list[_OfDataset] = []
    for records in trained:
        context.say(f"noise suppression: {records[0].cell.dataset}")
        found.append(_of_dataset(context, records))
    checks = [of_dataset.check for of_dataset in found]
    if not trained:
        checks.append(
            not_checked("no trained cell", f"no trained model with channel mixing in {context.out}")
        )
    met = {of_dataset.cells.dataset: of_dataset.tally for of_dataset in found}
    checks.append(check_implication(met, np.random.default_rng(SEED)))
    context.say("optimal mixer")
    generator = torch_generator(SEED, "optimal mixer")
    of_data = [
        _problem(of_dataset.cells, of_dataset.moments)
        for of_dataset in found
        if of_dataset.moments is not None
    ]
    checks.extend(check_optimal_mixer([*random_problems(generator), *of_data], generator))
    context.say("scale mismatch, cost of the scans")
    checks.extend(check_scale_mismatch(np.random.default_rng(SEED)))
    checks.append(check_scan_cost())
    context.say("symmetric context: trains small cores")
    checks.extend(check_symmetric_context())
    cells = tuple(of_dataset.cells for of_dataset in found)
    return TheoryRecord(seed=SEED, checks=tuple(checks), cells=cells)


class _OfDataset(NamedTuple):
    """The results of one dataset's trained cells; no moments if the dataset has a single channel."""

    cells: AnalysedCells
    check: Check
    tally: Tally
    moments: ClassMoments | None


def _of_dataset(context: Context, records: list[Record]) -> _OfDataset:
    cells = AnalysedCells.of(records)
    layers = [mixing_layer(load_trained(context.out, record), cells.model) for record in records]
    if cells.data.n_channels < 2:
        why = f"{cells.dataset} has one channel: a subspace of it has no complement that could be contracted"
        return _OfDataset(cells, not_checked(cells.dataset, why), Tally(0, 0), None)
    data = trained_data(records[0], context.root_for(records))
    moments = class_moments(data.part("train"), len(cells.data.class_names))
    points = draw_points(data.part("test"), N_POINTS, np.random.default_rng(SEED))
    found, bases = [jacobians(layer, points) for layer in layers], subspace_bases(moments)
    check = check_noise_suppression(cells, found, bases, points)
    return _OfDataset(cells, check, tally_trained(found, points, bases), moments)


def _problem(cells: AnalysedCells, moments: ClassMoments) -> Problem:
    return data_problem(f"training part of {cells.dataset}, {cells.data.kind} data", moments)
