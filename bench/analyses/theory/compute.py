"""The paper's propositions put to the test, one after another; each has a file of its own.

Source: MedMamba paper, section "Method": `noise_suppression` and `noise_implication`, `optimal_mixer`,
`scale_mismatch`, `scan_cost` and `symmetric_context` hold its statements in this order.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import write_analysis
from bench.analyses.channel_mixing.compute import mixing_layer
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
from bench.analyses.theory.record import NAME, Check, TheoryRecord
from bench.analyses.theory.scale_mismatch import check_scale_mismatch
from bench.analyses.theory.scan_cost import check_scan_cost
from bench.analyses.theory.symmetric_context import check_symmetric_context
from bench.analyses.trained import load_trained, trained_data
from bench.results.record import Record
from bench.train.seeding import torch_generator

SEED = 41

Say = Callable[[str], None]


class Trained(NamedTuple):
    """Cells that differ in the seed alone, and the folder of their data."""

    records: list[Record]
    root: Path


def run(out: Path, trained: Sequence[Trained], say: Say) -> TheoryRecord:
    """Check all propositions; write and return the record.

    Parameters
    ----------
    out
        Results folder.
    trained
        Cells whose mixing layers are looked at, one entry per dataset; without any, no trained mixer is checked against
        the first proposition's premise.
    say
        Takes a line of progress.

    Raises
    ------
    UsageError
        A model does not mix channels.
    RecordError, DataError
        Weights or data are not those of the records.
    """
    found: list[_OfDataset] = []
    for one in trained:
        say(f"noise suppression: {one.records[0].cell.dataset}")
        found.append(_of_dataset(out, one))
    checks = [one.check for one in found]
    if not trained:
        checks.append(not_checked("no trained cell", f"no trained model with channel mixing in {out}"))
    met = {one.cells.dataset: one.tally for one in found}
    checks.append(check_implication(met, np.random.default_rng(SEED)))
    say("optimal mixer")
    generator = torch_generator(SEED, "optimal mixer")
    of_data = [_problem(one.cells, one.moments) for one in found if one.moments is not None]
    checks.extend(check_optimal_mixer([*random_problems(generator), *of_data], generator))
    say("scale mismatch, cost of the scans")
    checks.extend(check_scale_mismatch(np.random.default_rng(SEED)))
    checks.append(check_scan_cost())
    say("symmetric context: trains small cores")
    checks.extend(check_symmetric_context())
    created = datetime.now(UTC).isoformat(timespec="seconds")
    cells = tuple(one.cells for one in found)
    record = TheoryRecord(schema=1, created=created, seed=SEED, checks=tuple(checks), cells=cells)
    write_analysis(out, NAME, NAME, record)
    return record


class _OfDataset(NamedTuple):
    """What trained cells and their data bring; no moments where one channel leaves nothing to mix."""

    cells: AnalysedCells
    check: Check
    tally: Tally
    moments: ClassMoments | None


def _of_dataset(out: Path, trained: Trained) -> _OfDataset:
    cells = AnalysedCells.of(trained.records)
    layers = [mixing_layer(load_trained(out, record), cells.model) for record in trained.records]
    if cells.data.n_channels < 2:
        why = f"{cells.dataset} has one channel: a subspace of it has no complement that could be contracted"
        return _OfDataset(cells, not_checked(cells.dataset, why), Tally(0, 0), None)
    data = trained_data(trained.records[0], trained.root)
    moments = class_moments(data.part("train"), len(cells.data.class_names))
    points = draw_points(data.part("test"), N_POINTS, np.random.default_rng(SEED))
    found, bases = [jacobians(layer, points) for layer in layers], subspace_bases(moments)
    check = check_noise_suppression(cells, found, bases, points)
    return _OfDataset(cells, check, tally_trained(found, points, bases), moments)


def _problem(cells: AnalysedCells, moments: ClassMoments) -> Problem:
    return data_problem(f"training part of {cells.dataset}, {cells.data.kind} data", moments)
