"""The paper's propositions put to the test, one after another; each has a file of its own.

Source: MedMamba paper, section "Method": `noise_suppression`, `optimal_mixer`, `scale_mismatch`, `scan_cost` and
`symmetric_context` hold its statements in this order.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.analyze.channel_mixing import mixing_layer
from bench.analyze.noise_suppression import (
    N_POINTS,
    ClassMoments,
    check_noise_suppression,
    class_moments,
    draw_points,
    not_checked,
)
from bench.analyze.optimal_mixer import check_optimal_mixer, data_problem, random_problems
from bench.analyze.scale_mismatch import check_scale_mismatch
from bench.analyze.scan_cost import check_scan_cost
from bench.analyze.symmetric_context import check_symmetric_context
from bench.analyze.trained import load_trained, trained_data
from bench.results.analysed import AnalysedCells
from bench.results.analysis import write_analysis
from bench.results.record import Record
from bench.results.theory import NAME, Check, TheoryRecord
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
        Cells whose mixing layers are looked at, one entry per dataset; without any the first proposition is not
        checked.
    say
        Takes a line of progress.

    Raises
    ------
    UsageError
        A model does not mix channels.
    RecordError, DataError
        Weights or data are not those of the records.
    """
    checks: list[Check] = []
    moments: dict[str, ClassMoments] = {}
    for one in trained:
        dataset = one.records[0].cell.dataset
        say(f"noise suppression: {dataset}")
        check, moments[dataset] = _noise_suppression(out, one)
        checks.append(check)
    if not trained:
        checks.append(not_checked(f"no trained model with channel mixing in {out}"))
    say("optimal mixer")
    generator = torch_generator(SEED, "optimal mixer")
    of_data = [data_problem(f"training part of {name}", found) for name, found in moments.items()]
    checks.extend(check_optimal_mixer([*random_problems(generator), *of_data], generator))
    say("scale mismatch, cost of the scans")
    checks.extend(check_scale_mismatch(np.random.default_rng(SEED)))
    checks.append(check_scan_cost())
    say("symmetric context: trains small cores")
    checks.extend(check_symmetric_context())
    created = datetime.now(UTC).isoformat(timespec="seconds")
    record = TheoryRecord(schema=1, created=created, seed=SEED, checks=tuple(checks))
    write_analysis(out, NAME, NAME, record)
    return record


def _noise_suppression(out: Path, trained: Trained) -> tuple[Check, ClassMoments]:
    cells = AnalysedCells.of(trained.records)
    layers = [mixing_layer(load_trained(out, record), cells.model) for record in trained.records]
    data = trained_data(trained.records[0], trained.root)
    moments = class_moments(data.part("train"), len(cells.data.class_names))
    points = draw_points(data.part("test"), N_POINTS, np.random.default_rng(SEED))
    return check_noise_suppression(cells, layers, moments, points), moments
