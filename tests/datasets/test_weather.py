"""Weather: the real series, what is mended in it, and damaged files."""

from pathlib import Path

import numpy as np
import pytest

from bench.datasets import weather
from bench.datasets.contract import SourceRecord
from bench.errors import DataError, UsageError

HEADER = ",".join(["date", *weather.FACTS.channel_names])
START = "2020-01-01 00:{:02d}:00"


@pytest.fixture(scope="module")
def of_2020(real: Path) -> weather.Series:
    return weather.series(real / "weather")


def write(folder: Path, *rows: str, header: str = HEADER) -> None:
    (folder / "weather.csv").write_text("\r\n".join([header, *rows]), encoding="utf-8")


def row(minute: int, value: str = "1.5") -> str:
    return ",".join([START.format(minute), *[value] * 21])


def test_real_file_has_52696_rows_of_21_channels(of_2020: weather.Series) -> None:
    assert of_2020.n_rows_in_file == 52_696
    assert of_2020.values.shape == (52_695, 21)


def test_real_file_reports_everything_that_was_mended(of_2020: weather.Series) -> None:
    assert of_2020.mended == (
        "row 19046: 2020-05-12 06:00:00 occurs twice, left out",
        "a gap of 100 minutes, left as it is",
        "wv (m/s): 1 missing values (-9999) interpolated",
        "max. PAR (µmol/m²/s): 30 missing values (-9999) interpolated",
        "OT: 50 missing values (-9999) interpolated",
    )


def test_no_missing_mark_is_left_in_the_real_series(of_2020: weather.Series) -> None:
    assert of_2020.values.min() > -100


def test_missing_value_is_interpolated_in_time(tmp_path: Path) -> None:
    write(tmp_path, row(0, "1"), row(10, "-9999"), row(40, "5"))
    assert weather.series(tmp_path).values[:, 20].tolist() == [1.0, 2.0, 5.0]


def test_second_row_of_a_time_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, row(0, "1"), row(10, "2"), row(10, "3"), row(20, "4"))
    assert weather.series(tmp_path).values[:, 0].tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings_read_alike(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, row(0), row(10))
    path = tmp_path / "weather.csv"
    path.write_text(path.read_text(encoding="utf-8"), encoding=encoding)
    assert np.all(weather.series(tmp_path).values == 1.5)


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ([], HEADER, "0 rows; cut off"),
        ([row(0), row(10)[:60]], HEADER, "row 3: .* values, expected 22"),
        ([row(0), row(10, "x")], HEADER, "row 3: could not convert"),
        ([row(0), row(10, "nan")], HEADER, "row 3: a value that is not a finite number"),
        ([row(0), row(10).replace("2020", "20x0")], HEADER, "row 3: Invalid isoformat"),
        ([row(20), row(10)], HEADER, "times run backwards after row 2"),
        ([row(0), "", row(10, "nan")], HEADER, "row 4: a value that is not a finite number"),
        ([row(0), row(0), row(20), row(10)], HEADER, "times run backwards after row 4"),
        ([row(0, "-9999"), row(10, "-9999")], HEADER, "nothing but -9999"),
        ([row(0), row(10)], HEADER.replace("rh (%)", "rh"), r"column 'rh' where 'rh \(%\)' is expected"),
        ([row(0), row(10)], HEADER + ",more", "23 columns, expected 22"),
        ([row(0), '"' + row(10)], HEADER, "not a table of comma-separated values"),
    ],
)
def test_damaged_file_is_refused(tmp_path: Path, rows: list[str], header: str, message: str) -> None:
    write(tmp_path, *rows, header=header)
    with pytest.raises(DataError, match=message):
        weather.series(tmp_path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"weather\.csv: no such file"):
        weather.series(tmp_path)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weather.csv").touch()
    with pytest.raises(DataError, match=r"weather\.csv: the file is empty"):
        weather.series(tmp_path)


def test_weather_has_nothing_to_classify(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="centralization table only"):
        weather.records(tmp_path)
    with pytest.raises(UsageError, match="has no windows"):
        weather.cut(tmp_path, SourceRecord(name="x", subject="x", label=None, paths=()))
