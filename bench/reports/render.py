"""The report of a results folder: its tables, written whole, and what could not be read."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.errors import RecordError
from bench.files import atomic_file
from bench.reports.formats import to_csv, to_latex, to_markdown
from bench.reports.main_results import main_results
from bench.reports.table import Table
from bench.results.aggregate import Comparison, compare
from bench.results.store import read_all


@dataclass(frozen=True)
class Report:
    """The rendered tables, the files that were written, and the records that could not be read."""

    tables: tuple[Table, ...]
    files: tuple[Path, ...]
    damaged: tuple[RecordError, ...]


def render(out: Path, report: Path) -> Report:
    """Render all tables of a results folder.

    Parameters
    ----------
    out
        Results folder.
    report
        Folder that the files go to; earlier ones of the same name are replaced.

    Raises
    ------
    RecordError
        There is no record, or one is of a newer schema.
    """
    records, damaged = read_all(out)
    if not records:
        raise RecordError(f"{out}: no record of a finished cell; run 'bench run --out {out}' first")
    comparisons = compare(records)
    tables = [main_results(one, name) for one, name in zip(comparisons, _names(comparisons), strict=True)]
    files = []
    for table in tables:
        for suffix, text in ((".tex", to_latex(table)), (".md", to_markdown(table)), (".csv", to_csv(table))):
            files.append(_write(report / "tables" / f"{table.name}{suffix}", text))
    return Report(tuple(tables), tuple(files), tuple(damaged))


def _names(comparisons: list[Comparison]) -> list[str]:
    """Return a file name for each comparison; several of one dataset are numbered."""
    numbers: Counter[str] = Counter()
    total = Counter(one.condition.dataset for one in comparisons)
    names = []
    for one in comparisons:
        dataset = one.condition.dataset
        numbers[dataset] += 1
        names.append(f"main-{dataset}" if total[dataset] == 1 else f"main-{dataset}-{numbers[dataset]}")
    return names


def _write(path: Path, text: str) -> Path:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
