"""What an analysis is: its name and options, and the functions that compute, show and judge its records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from bench.analyses.analysed_cells import AnalysedCells
    from bench.analyses.context import Context
    from bench.paper.claims import RecordJudge
    from bench.render.figure import Figure
    from bench.render.table import Table
    from bench.studies.suite import Suite

Say = Callable[[str], None]
"""Called with one line of progress."""


class Options(BaseModel):
    """Base of an analysis's options: each field is one option of the command line, with its help and bounds.

    A field ``time_limit`` is ``--time-limit``; its unit stands in ``json_schema_extra={"metavar": ...}``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class CellOptions(Options):
    """Options of analyses that look at trained cells."""

    recipe: str | None = Field(default=None, description="Only cells of this recipe. [default: any]")


class ChosenCells(Protocol):
    """Options that name the models and datasets of trained cells; None leaves the choice to the analysis."""

    @property
    def models(self) -> str | None:
        """Names, a comma list."""
        ...

    @property
    def datasets(self) -> str | None:
        """Names, a comma list."""
        ...

    @property
    def recipe(self) -> str | None:
        """Only cells of this recipe."""
        ...


Device = Literal["auto", "cpu", "cuda"]


def device_field() -> Any:
    """Return the option ``--device``."""
    return Field(default="auto", description="Where models run; auto: CUDA if there is a CUDA device.")


def threads_field() -> Any:
    """Return the option ``--threads``."""
    return Field(default=None, ge=1, description="CPU threads. [default: all cores]")


def memory_field() -> Any:
    """Return the option ``--memory``, in GiB."""
    return Field(
        default=None,
        ge=0.1,
        description="Memory per model, on a CPU. [default: the free memory]",
        json_schema_extra={"metavar": "GIB"},
    )


class SavedRecord(Protocol):
    """What every record of an analysis must provide."""

    @property
    def stem(self) -> str:
        """Name of its file below the analysis's folder, without ``.json``; a later record of that name replaces it."""
        ...

    @property
    def analysed(self) -> "Sequence[AnalysedCells]":
        """The trained cells that the record describes; empty for analyses without trained cells."""
        ...


@dataclass(frozen=True)
class Shown:
    """Tables and figures of an analysis's records; ``text``, if given, is printed instead of the tables."""

    tables: "Sequence[Table]" = ()
    figures: "Sequence[Figure]" = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One analysis.

    Attributes
    ----------
    name
        Name of its command, and of its folder below ``OUT/analyses``.
    title
        Heading in a report.
    summary
        One line: the question it answers.
    examples
        Command lines for its help.
    options, record
        Pydantic models of its options and of its record.
    package
        Import name of the package with ``compute.run(context, options)``, ``report.report(out, records)`` and, where
        its records can decide a claim of the paper, ``judge.judge(records, suite)``.
    is_judged
        Whether it has a judge.
    folder
        Where records lie, below the results folder. [default: analyses/<name>]
    """

    name: str
    title: str
    summary: str
    examples: Sequence[str]
    options: type[Options]
    record: type[Any]
    package: str
    is_judged: bool = True
    folder: str = ""

    @property
    def command(self) -> str:
        """The command that runs it: one of its own where its records have a folder of their own."""
        return f"bench {self.name}" if self.folder else f"bench analyze {self.name}"

    def folder_in(self, out: Path) -> Path:
        """Return the folder of its records in a results folder."""
        return out / (self.folder or f"analyses/{self.name}")

    def run(self, context: "Context", options: Any) -> None:
        """Compute the records; each is written by ``context.write`` as soon as it is finished."""
        import_module(f"{self.package}.compute").run(context, options)

    def report(self, out: Path, records: Sequence[Any]) -> Shown:
        """Return tables and figures of records, at least one; arrays beside them are read from the results folder."""
        return import_module(f"{self.package}.report").report(out, records)

    def judges(self, records: Sequence[Any], suite: "Suite | None") -> "Mapping[str, RecordJudge]":
        """Return the judges of the paper's claims that these records can decide, by the claims' ``needs`` key.

        ``suite`` holds the cells of the paper's recipe, where there are any.
        """
        if not self.is_judged:
            return {}
        return import_module(f"{self.package}.judge").judges(records, suite)
