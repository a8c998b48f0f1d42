"""Weather 2020: 21 meteorological series, data for the centralization table only, without classes or windows.

Source: Max Planck Institute for Biogeochemistry, Jena (https://www.bgc-jena.mpg.de/wetter/), the year 2020 as
thuml/Time-Series-Library hands it out: ``weather.csv`` with ``date`` and 21 columns every ten minutes, 52,696 rows.
"""

import csv
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord, as_one_line
from bench.datasets.formats.source_files import source_file
from bench.datasets.formats.text_file import numbered_lines
from bench.errors import DataError, UsageError

REVISION = 1
FILE_NAME = "weather.csv"
N_ROWS = 52_696
MISSING = -9999.0
_STEP = timedelta(minutes=10)

_COLUMNS = (
    *("p (mbar)", "T (degC)", "Tpot (K)", "Tdew (degC)", "rh (%)", "VPmax (mbar)", "VPact (mbar)"),
    *(
        "VPdef (mbar)",
        "sh (g/kg)",
        "H2OC (mmol/mol)",
        "rho (g/m**3)",
        "wv (m/s)",
        "max. wv (m/s)",
        "wd (deg)",
    ),
    *(
        "rain (mm)",
        "raining (s)",
        "SWDR (W/m²)",
        "PAR (µmol/m²/s)",
        "max. PAR (µmol/m²/s)",
        "Tlog (degC)",
        "OT",
    ),
)

FACTS = DatasetFacts(
    name="weather",
    title="Weather (Jena, 2020)",
    version="2020",
    task="none here: a data set of forecasting, for comparison in the centralization table",
    class_names=(),
    channel_names=_COLUMNS,
    n_times=N_ROWS,
    sampling_rate_hz=1 / 600,
    normalisation="none",
    n_subjects=0,
    n_windows=None,
    homepage="https://www.bgc-jena.mpg.de/wetter/",
    licence="not stated; ask the publisher before passing it on",
    citation="Max Planck Institute for Biogeochemistry, Jena: weather station records, 2020",
    split_rule="none: no classes and no subjects",
    layout=("weather.csv",),
    known_problems=(
        "-9999 marks missing values: 1 in wv, 30 in max. PAR, 50 in OT; interpolated linearly in time here",
        "2020-05-12 06:00 occurs twice; the second row is left out here",
        "a gap of 100 minutes between two rows; left as it is",
        "signs outside ASCII in the header were lost in the copies; our names restore them",
    ),
)


@dataclass(frozen=True)
class Series:
    """A multivariate series ``(n_times, n_channels)``, and what had to be mended in it, one line each."""

    values: NDArray[np.float64]
    channel_names: tuple[str, ...]
    n_rows_in_file: int
    mended: tuple[str, ...]


def series(folder: Path) -> Series:
    """Read the whole series; missing values are interpolated and repeated time stamps dropped, and reported.

    Raises
    ------
    DataError
        The file is missing, has other columns, unreadable rows, times out of order, or nothing but missing
        values in a column.
    """
    path = folder / FILE_NAME
    try:
        lines = numbered_lines(source_file(folder, FILE_NAME))
    except DamagedRecord as error:
        raise DataError(
            f"{folder}: {error}; the file is part of the forecasting sets for Autoformer"
        ) from error
    table = csv.reader((line for _, line in lines), strict=True)
    try:
        # Each with the number of its last line in the file.
        rows = [(lines[table.line_num - 1][0], row) for row in table]
    except csv.Error as error:
        raise DataError(
            f"{path}: not a table of comma-separated values ({error}); get the file again"
        ) from error
    _check_header(path, rows[0][1] if rows else [])
    times, values = _parse(path, rows[1:])
    backwards = np.flatnonzero(np.diff(times) < 0)
    if backwards.size:
        number, _ = rows[backwards[0] + 1]
        raise DataError(f"{path}: times run backwards after row {number}; get the file again")
    repeated = np.flatnonzero(np.diff(times) == 0) + 1
    mended = [
        f"row {number}: {row[0]} occurs twice, left out" for number, row in (rows[i + 1] for i in repeated)
    ]
    times, values = np.delete(times, repeated), np.delete(values, repeated, axis=0)
    mended += [
        f"a gap of {gap / 60:g} minutes, left as it is"
        for gap in np.diff(times)
        if gap != _STEP.total_seconds()
    ]
    mended += _interpolate(path, times, values)
    return Series(values, _COLUMNS, len(rows) - 1, tuple(mended))


def records(folder: Path) -> SourceList:
    """Refuse: there is nothing to classify.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(f"dataset 'weather' ({folder}) has no classes: it serves the centralization table only")


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Refuse: there is nothing to cut.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(f"dataset 'weather' ({folder}) has no windows such as '{record.name}'")


def _check_header(path: Path, header: list[str]) -> None:
    """Compare names by their ASCII signs: the others were lost in the copies that are about."""
    found = [_ascii_only(name) for name in header]
    expected = [_ascii_only(name) for name in ("date", *_COLUMNS)]
    if len(found) != len(expected):
        raise DataError(f"{path}: {len(found)} columns, expected {len(expected)}; another file?")
    for name, right in zip(found, expected, strict=True):
        if name != right:
            raise DataError(
                f"{path}: column '{as_one_line(name[:80])}' where '{right}' is expected; another file?"
            )


def _ascii_only(name: str) -> str:
    return "".join(sign for sign in name if sign.isascii())


def _parse(path: Path, rows: list[tuple[int, list[str]]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times in seconds since the first row, and the values."""
    if len(rows) < 2:
        raise DataError(f"{path}: {len(rows)} rows; cut off? Get the file again")
    values = np.empty((len(rows), len(_COLUMNS)))
    times = np.empty(len(rows))
    start: datetime | None = None
    for i, (number, row) in enumerate(rows):
        if len(row) != 1 + len(_COLUMNS):
            raise DataError(
                f"{path}, row {number}: {len(row)} values, expected {1 + len(_COLUMNS)}; cut off?"
            )
        try:
            time = datetime.fromisoformat(row[0]).replace(tzinfo=None)
            values[i] = np.array(row[1:], dtype=np.float64)
        except ValueError as error:
            raise DataError(f"{path}, row {number}: {error}; get the file again") from error
        start = start or time
        times[i] = (time - start).total_seconds()
    if not np.isfinite(values).all():
        number, _ = rows[np.flatnonzero(~np.isfinite(values).all(axis=1))[0]]
        raise DataError(f"{path}, row {number}: a value that is not a finite number; get the file again")
    return times, values


def _interpolate(path: Path, times: NDArray[np.float64], values: NDArray[np.float64]) -> list[str]:
    """Replace missing values in place, each column by itself, and say how many there were."""
    mended = []
    for column, name in zip(values.T, _COLUMNS, strict=True):
        missing = column == MISSING
        if missing.all():
            raise DataError(f"{path}: column '{name}' holds nothing but {MISSING:g}; get the file again")
        if missing.any():
            column[missing] = np.interp(times[missing], times[~missing], column[~missing])
            mended.append(f"{name}: {missing.sum()} missing values ({MISSING:g}) interpolated")
    return mended
