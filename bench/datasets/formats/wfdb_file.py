"""Reads one WFDB record into an array and refuses what a damaged or foreign record would smuggle in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.source_files import source_file

# What wfdb 4 raises on damaged headers and signals; found by feeding it some thousands of mutated files.
_WFDB_ERRORS = (ValueError, IndexError, KeyError, TypeError, OSError)


def read_wfdb(
    folder: Path,
    path: str,
    *,
    channel_names: Sequence[str],
    sampling_rate_hz: float,
    n_times: int | None = None,
) -> NDArray[np.float64]:
    """Read the signals of a record whose channels, rate and format are known beforehand.

    Signal files must lie beside the header and hold 16-bit samples; the header's checksums are verified. Case
    in channel names is ignored, order is not.

    Parameters
    ----------
    folder
        The dataset's folder.
    path
        Record within ``folder``, without extension.
    channel_names
        Expected channels, in order.
    sampling_rate_hz
        Expected rate.
    n_times
        Expected length in samples; None takes any.

    Returns
    -------
    NDArray[np.float64]
        ``(n_times, n_channels)`` in the header's units, all finite.

    Raises
    ------
    DamagedRecord
        A file is missing, cut off or not as expected.
    """
    import wfdb

    header_path = f"{path}.hea"
    header = _read_header(folder, path)
    _check_header(header, header_path, channel_names, sampling_rate_hz, n_times)
    _check_files(header, folder, path)
    try:
        record: Any = wfdb.rdrecord(str(folder / path), physical=False)
        found: Any = record.calc_checksum()
        signal = record.dac()
    except _WFDB_ERRORS as error:
        raise DamagedRecord(f"{path}: signals not readable ({_one_line(error)})") from error
    for channel, expected, actual in zip(channel_names, header.checksum, found, strict=True):
        if expected is not None and expected % 65536 != actual:
            raise DamagedRecord(f"{path}: checksum of {channel} is {actual}, the header says {expected}")
    finite = np.isfinite(signal).all(axis=0)
    if not finite.all():
        raise DamagedRecord(f"{path}: missing or invalid samples in {channel_names[int(finite.argmin())]}")
    return np.asarray(signal, dtype=np.float64)


def _read_header(folder: Path, path: str) -> Any:
    import wfdb

    source_file(folder, f"{path}.hea")
    try:
        header = wfdb.rdheader(str(folder / path))
    except _WFDB_ERRORS as error:
        raise DamagedRecord(f"{path}.hea: not a WFDB header ({_one_line(error)})") from error
    if not isinstance(header, wfdb.Record):
        raise DamagedRecord(f"{path}.hea: a multi-segment header, expected one segment")
    return header


def _check_header(
    header: Any, where: str, channel_names: Sequence[str], sampling_rate_hz: float, n_times: int | None
) -> None:
    if header.n_sig != len(channel_names):
        raise DamagedRecord(f"{where}: {header.n_sig} channels, expected {len(channel_names)}")
    found = [str(name) for name in header.sig_name or ()]
    if [name.lower() for name in found] != [name.lower() for name in channel_names]:
        raise DamagedRecord(f"{where}: channels {' '.join(found)}, expected {' '.join(channel_names)}")
    if header.fs != sampling_rate_hz:
        raise DamagedRecord(f"{where}: {header.fs:g} Hz, expected {sampling_rate_hz:g} Hz")
    if not header.sig_len or (n_times is not None and header.sig_len != n_times):
        raise DamagedRecord(f"{where}: {header.sig_len} samples, expected {n_times or 'at least one'}")
    shifted = any(map(bool, (*header.byte_offset, *header.skew)))
    if set(header.fmt) != {"16"} or set(header.samps_per_frame) != {1} or shifted:
        raise DamagedRecord(f"{where}: signal format {' '.join(sorted(set(header.fmt)))}, expected plain 16")
    if not all(gain and np.isfinite(gain) for gain in header.adc_gain):
        raise DamagedRecord(f"{where}: a gain that is zero or not a number")


def _check_files(header: Any, folder: Path, path: str) -> None:
    stem = Path(path).name
    for name in dict.fromkeys(header.file_name):
        if Path(name).name != name or Path(name).stem != stem:
            raise DamagedRecord(f"{path}.hea: names the signal file '{name}', expected one beside it")
        relative = Path(path).with_name(name).as_posix()
        found = source_file(folder, relative).stat().st_size
        expected = 2 * header.sig_len * header.file_name.count(name)
        if found != expected:
            raise DamagedRecord(f"{relative}: {found} bytes, the header says {expected}")


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:120]
