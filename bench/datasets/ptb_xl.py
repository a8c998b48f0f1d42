"""PTB-XL: 12-lead ECGs in five diagnostic super-classes, from the PhysioNet layout.

Wagner et al., PTB-XL, a large publicly available electrocardiography dataset, Scientific Data 7:154 (2020).
Labels, patient filter and windows as in the preprocessing of DL4mHealth/Medformer at 891f65b: the class of a
record is that of its code with the highest likelihood (the first on ties), a patient stays if all records of
that patient have one and the same class, and every 10-s record at 500 Hz is interpolated to 250 Hz, scaled
per lead and cut in ten.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import (
    Cut,
    DamagedRecord,
    DatasetFacts,
    SourceList,
    SourceRecord,
    as_one_line,
)
from bench.datasets.formats.source_files import is_there
from bench.datasets.formats.text_file import table_rows
from bench.datasets.formats.wfdb_file import read_wfdb
from bench.datasets.normalisation import standard_scale, standard_scale_of
from bench.datasets.resampling import resample_linear
from bench.errors import DataError

REVISION = 1
LIBRARIES = ("wfdb",)

FACTS = DatasetFacts(
    name="ptb-xl",
    title="PTB-XL",
    version="1.0.1",
    task="diagnostic super-class from one second of a 12-lead ECG",
    class_names=("NORM", "MI", "STTC", "CD", "HYP"),
    channel_names=("I", "II", "III", "AVR", "AVL", "AVF", "V1", "V2", "V3", "V4", "V5", "V6"),
    n_times=250,
    sampling_rate_hz=250.0,
    normalisation="window",
    n_subjects=17596,
    n_windows=191400,
    homepage="https://physionet.org/content/ptb-xl/1.0.1/",
    licence="CC BY 4.0",
    citation="Wagner et al., PTB-XL, a large publicly available electrocardiography dataset, "
    "Scientific Data 7:154 (2020)",
    split_rule="per class in patient order: first 60 percent train, next 20 validation, rest test",
    layout=("ptbxl_database.csv", "scp_statements.csv", "records500/NNNNN/NNNNN_hr.hea and .dat"),
    checked_in_files=("rate", "channels"),
    known_problems=(
        "version 1.0.2 removed duplicated records of 1.0.1 and changed ages above 89",
        "likelihoods are often equal; the first code of the list then decides",
        "interpolation without a filter lets noise above 125 Hz alias",
    ),
)

SOURCE_RATE_HZ = 500.0
SOURCE_N_TIMES = 5000
WINDOWS_PER_RECORD = 10

# The publisher's scp_statements.csv, column diagnostic_class; written out because the protocol rests on it.
CODES_OF_CLASS = {
    "NORM": "NORM",
    "MI": "IMI ASMI ILMI AMI ALMI INJAS LMI INJAL IPLMI IPMI INJIN INJLA PMI INJIL",
    "STTC": "NDT NST_ DIG ISC_ ISCAL LNGQT ISCIN ISCIL ISCAS ISCLA ANEUR EL ISCAN",
    "CD": "LAFB IRBBB 1AVB IVCD CRBBB CLBBB LPFB WPW ILBBB 3AVB 2AVB",
    "HYP": "LVH LAO/LAE RVH RAO/RAE SEHYP",
}
CLASS_OF_CODE = {code: name for name, codes in CODES_OF_CLASS.items() for code in codes.split()}

# Of pairs of equal records under two patients the ones that the publisher dropped in 1.0.2 and 1.0.3.
_DROPPED_LATER = (
    *(137, 139, 140, 141, 142, 143, 145, 456, 458, 459, 461, 462, 2506, 2511, 3795, 3798, 3800, 3801),
    *(3832, 5817, 7777, 7779, 7782, 9821, 9825, 9888, 11810, 11814, 11815, 11817, 11838, 13791, 13793),
    *(13796, 13797, 13799, 15742, 18150),
)
KNOWN_COPIES = frozenset(f"{ecg_id:05d}_hr" for ecg_id in _DROPPED_LATER)

TABLE = "ptbxl_database.csv"
STATEMENTS = "scp_statements.csv"
_COLUMNS = ("ecg_id", "patient_id", "scp_codes", "filename_hr")
_LONGEST_CODES, _LONGEST_NUMBER = 2000, 9
# A code with its likelihood in percent, in what Python writes of a dictionary.
_CODE = re.compile(
    r"""\s*(?P<quote>['"])(?P<code>[^'"\\]*)(?P=quote)\s*:\s*(?P<percent>[0-9]{1,3}(?:\.[0-9]*)?)\s*(?:,|$)"""
)


@dataclass(frozen=True)
class _Row:
    ecg_id: int
    patient: int
    class_name: str | None
    path: str


def records(folder: Path) -> SourceList:
    """List the records of all patients with one class, in the order of patient and record number.

    Raises
    ------
    DataError
        A table is missing, cut off or lacks a column, or names a code, patient or file that cannot be.
    """
    known_codes = _known_codes(folder / STATEMENTS)
    rows_of: dict[int, list[_Row]] = defaultdict(list)
    seen: set[int] = set()
    for row in _rows(folder / TABLE, known_codes):
        if row.ecg_id in seen:
            raise DataError(f"{folder / TABLE}: ecg_id {row.ecg_id} occurs twice; {_get_it_again()}")
        seen.add(row.ecg_id)
        rows_of[row.patient].append(row)
    kept: list[SourceRecord] = []
    excluded: list[tuple[str, str]] = []
    for patient in sorted(rows_of):
        rows = sorted(rows_of[patient], key=lambda row: row.ecg_id)
        reason = _reason_to_exclude({row.class_name for row in rows})
        if reason:
            excluded.append((str(patient), reason))
        else:
            kept.extend(_source_record(row) for row in rows)
    return SourceList(tuple(kept), tuple(excluded))


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Read one record and cut it into ten windows of a second, scaled over the whole record.

    A lead that is constant throughout (an electrode that came off) stays, as zeros, like in the published
    windows.

    Raises
    ------
    DamagedRecord
        A file is missing, damaged or not a 10-s 12-lead record at 500 Hz, or no lead carries a signal.
    """
    scaled = standard_scale(_signal_at_250_hz(folder, record))
    windows = scaled.reshape(WINDOWS_PER_RECORD, FACTS.n_times, FACTS.n_channels).astype(np.float32)
    return Cut.of_one(windows, record)


def scale_of(folder: Path, record: SourceRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation of each lead in millivolt, ``(12,)`` each, by which `cut` scales a record.

    Raises
    ------
    DamagedRecord
        As `cut`.
    """
    return standard_scale_of(_signal_at_250_hz(folder, record))


def _signal_at_250_hz(folder: Path, record: SourceRecord) -> NDArray[np.float64]:
    """Return the 12 leads of a record in millivolt, ``(2500, 12)``, interpolated to 250 Hz."""
    path = record.paths[0].removesuffix(".hea")
    signal = read_wfdb(
        folder,
        path,
        channel_names=FACTS.channel_names,
        sampling_rate_hz=SOURCE_RATE_HZ,
        n_times=SOURCE_N_TIMES,
    )
    if not np.ptp(signal, axis=0).any():
        raise DamagedRecord(f"{path}: every lead is constant")
    return resample_linear(signal, WINDOWS_PER_RECORD * FACTS.n_times)


def _reason_to_exclude(classes: set[str | None]) -> str | None:
    if classes == {None}:
        return "no record with one of the five classes"
    if len(classes - {None}) > 1:
        return "records of different classes"
    return "a record without one of the five classes" if None in classes else None


def _source_record(row: _Row) -> SourceRecord:
    assert row.class_name is not None, f"record {row.ecg_id} has no class"
    return SourceRecord(
        name=PurePosixPath(row.path).name,
        subject=str(row.patient),
        label=FACTS.class_names.index(row.class_name),
        paths=(f"{row.path}.hea", f"{row.path}.dat"),
    )


def _get_it_again() -> str:
    return f"get the file again from {FACTS.homepage}"


def _read_table(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row with a text that says where it stands."""
    if not is_there(path):
        raise DataError(f"{path} is missing, so this is not PTB-XL's folder; {_get_it_again()}")
    for number, row in table_rows(path, columns, _get_it_again()):
        yield f"{path}, line {number}", row


def _known_codes(path: Path) -> set[str]:
    codes = {row[""] for _, row in _read_table(path, ("", "diagnostic_class"))}
    missing = sorted(CLASS_OF_CODE.keys() - codes)
    if missing:
        raise DataError(f"{path}: no code '{missing[0]}'; {_get_it_again()}")
    return codes


def _rows(path: Path, known_codes: set[str]) -> Iterator[_Row]:
    empty = True
    for where, row in _read_table(path, _COLUMNS):
        empty = False
        yield _Row(
            _whole_number(where, "ecg_id", row["ecg_id"]),
            _whole_number(where, "patient_id", row["patient_id"]),
            _class_name(where, row["scp_codes"], known_codes),
            _record_path(where, row["ecg_id"], row["filename_hr"]),
        )
    if empty:
        raise DataError(f"{path}: no rows; {_get_it_again()}")


def _whole_number(where: str, column: str, text: str) -> int:
    whole = text.removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= _LONGEST_NUMBER):
        raise DataError(
            f"{where}: {column} '{as_one_line(text[:80])}' is not a whole number; {_get_it_again()}"
        )
    return int(whole)


def _record_path(where: str, ecg_id: str, text: str) -> str:
    """Return a row's path, which follows from its number: another one is another record's."""
    number = _whole_number(where, "ecg_id", ecg_id)
    expected = f"records500/{number // 1000 * 1000:05d}/{number:05d}_hr"
    if text != expected:
        raise DataError(
            f"{where}: filename_hr '{as_one_line(text[:80])}' is not within records500 the file of ecg_id {number}, "
            f"{expected}; {_get_it_again()}"
        )
    return text


def _class_name(where: str, text: str, known_codes: set[str]) -> str | None:
    """Return the class of the code with the highest likelihood, None where there is no such code or class."""
    if text.strip() in ("", "nan"):
        return None
    likelihood = _parse_codes(text)
    if likelihood is None:
        raise DataError(
            f"{where}: scp_codes '{as_one_line(text[:80])}' is not code: likelihood; {_get_it_again()}"
        )
    for code in likelihood:
        if code not in known_codes:
            raise DataError(
                f"{where}: code '{as_one_line(code[:80])}' is not in {STATEMENTS}; {_get_it_again()}"
            )
    return CLASS_OF_CODE.get(max(likelihood, key=likelihood.__getitem__)) if likelihood else None


def _parse_codes(text: str) -> dict[str, float] | None:
    """Return the codes with their likelihoods in percent, None where the text is anything else."""
    inner = text.strip().removeprefix("{").removesuffix("}").strip()
    if len(text) > _LONGEST_CODES or text.strip()[0] + text.strip()[-1] != "{}":
        return None
    codes: dict[str, float] = {}
    position = 0
    while position < len(inner):
        match = _CODE.match(inner, position)
        if match is None or float(match["percent"]) > 100:
            return None
        codes[match["code"]] = float(match["percent"])
        position = match.end()
    return codes
