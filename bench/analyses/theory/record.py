"""The record of the tests of the paper's propositions: what was checked, on which data, and the result."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord
from bench.results.frozen_model import FrozenModel

NAME = "theory"

Verdict = Literal["holds", "does not hold here", "not checked"]


class Curve(FrozenModel):
    """One line of a check's figure. ``low`` and ``high`` are empty, or bounds for each point."""

    panel: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Check(FrozenModel):
    """One checked statement. ``values`` holds the numbers in the sentence ``result``.

    ``number`` is the paper's statement, 1 to 5 in its order, with a letter where a statement has several; ``about``
    tells several checks of one number apart, such as by dataset. ``void`` says why the outcome decides nothing about
    the paper, such as simulated data; else it is empty. ``kind`` is the kind of data, "whole" if there is none.
    """

    number: str
    about: str
    claim: str
    checked: str
    on: str
    result: str
    verdict: Verdict
    void: str = ""
    kind: Literal["whole", "converted", "excerpt", "simulated", "own"] = "whole"
    values: dict[str, float | int | None] = Field(default_factory=dict)
    x_label: str = ""
    curves: tuple[Curve, ...] = ()


class TheoryRecord(AnalysisRecord):
    """All checks of one run, in the order of the paper.

    ``seed`` starts every draw; ``cells`` are the trained cells that were analysed.
    """

    seed: int
    checks: tuple[Check, ...]
    cells: tuple[AnalysedCells, ...] = ()

    @property
    def stem(self) -> str:
        """Name of its file; a results folder has a single one."""
        return NAME

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """The trained cells that the record describes."""
        return self.cells


class Options(contract.CellOptions):
    """What ``bench analyze theory`` asks for."""

    datasets: str | None = Field(
        default=None, description="Datasets with trained cells. [default: all on which the model is trained]"
    )
    models: str = Field(default="medmamba", description="MedMamba or a variant that mixes channels.")


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Propositions",
    summary="Test the paper's propositions; the first needs trained cells, the others need none.",
    examples=("bench analyze theory", "bench analyze theory --datasets ptb-xl --data DIR --out results"),
    options=Options,
    record=TheoryRecord,
    package="bench.analyses.theory",
)


def verdict(holds: bool) -> Verdict:
    """Return a measured outcome in words."""
    return "holds" if holds else "does not hold here"
