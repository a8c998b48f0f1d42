"""The record of the paper's propositions put to the test: for each what was checked, on what, and what came out."""

from typing import Literal

from pydantic import Field

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord, Part

NAME = "theory"

Verdict = Literal["holds", "does not hold here", "not checked"]


class Curve(Part):
    """One line of a check's figure. ``low`` and ``high`` are empty, or bounds for each point."""

    panel: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Check(Part):
    """One checked statement. ``values`` holds the numbers that ``result`` is a sentence of.

    ``number`` is the paper's statement, 1 to 5 in its order, with a letter where a statement has several; ``about``
    tells several checks of one number apart, such as by dataset. ``void`` says why the outcome decides nothing about
    the paper, such as simulated data; empty where it does. ``kind`` is that of the data, "whole" where there is none.
    """

    number: str
    about: str
    claim: str
    checked: str
    on: str
    result: str
    verdict: Verdict
    void: str = ""
    kind: Literal["whole", "excerpt", "simulated", "own"] = "whole"
    values: dict[str, float | int | None] = Field(default_factory=dict)
    x_label: str = ""
    curves: tuple[Curve, ...] = ()


class TheoryRecord(AnalysisRecord):
    """All checks of one run, in the order of the paper.

    ``seed`` starts every draw; ``cells`` are the trained ones that were looked at.
    """

    seed: int
    checks: tuple[Check, ...]
    cells: tuple[AnalysedCells, ...] = ()


def verdict(holds: bool) -> Verdict:
    """Return a measured outcome in words."""
    return "holds" if holds else "does not hold here"
