"""The scores of a results folder in the formats of other tools: CSV, Parquet, runs of MLflow."""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.errors import RecordError, UsageError
from bench.files import atomic_file
from bench.render.export import write_text
from bench.report.mlflow_runs import write_runs
from bench.results.record import Record
from bench.results.store import read_all
from bench.studies.tidy import as_csv, as_frame, tidy_rows


class Format(NamedTuple):
    """A format: what it is called where none gives a name, what writes it, and the package that this needs.

    ``write`` takes records and a path, and returns a sentence about what is there then.
    """

    default_name: str
    write: Callable[[Sequence[Record], Path], str]
    needs: str | None = None


def export(out: Path, name: str, target: Path | None) -> str:
    """Write the scores of a results folder in a format of `FORMATS`; return a sentence about what was written.

    Parameters
    ----------
    out
        Results folder.
    name
        The format.
    target
        File, or folder of MLflow's runs; by default the format's own name in the current folder.

    Raises
    ------
    UsageError
        The package that the format needs is not installed.
    RecordError
        There is no record, or one cannot be read.
    """
    chosen = FORMATS[name]
    if chosen.needs is not None and importlib.util.find_spec(chosen.needs) is None:
        raise UsageError(
            f"--format {name}: {chosen.needs} is not installed; "
            f"pip install 'medmamba-bench[{name}]', or use --format csv"
        )
    records, damaged = read_all(out)
    if damaged:
        raise damaged[0]
    if not records:
        raise RecordError(f"{out}: no record of a finished cell; name a results folder")
    return chosen.write(records, target or Path(chosen.default_name))


def _write_csv(records: Sequence[Record], path: Path) -> str:
    rows = tidy_rows(records)
    return f"{write_text(path, as_csv(rows))}: {len(rows)} rows of {len(records)} cells"


def _write_parquet(records: Sequence[Record], path: Path) -> str:
    rows = tidy_rows(records)
    with atomic_file(path) as temporary:
        as_frame(rows).to_parquet(temporary, engine="pyarrow", index=False)
    return f"{path}: {len(rows)} rows of {len(records)} cells"


def _write_mlflow(records: Sequence[Record], folder: Path) -> str:
    n_new = write_runs(records, folder)
    return f"{folder}: {n_new} new runs, {len(records) - n_new} that were there"


FORMATS = {
    "csv": Format("cells.csv", _write_csv),
    "parquet": Format("cells.parquet", _write_parquet, needs="pyarrow"),
    "mlflow": Format("mlruns", _write_mlflow, needs="mlflow"),
}
