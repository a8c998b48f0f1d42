"""Reads one WFDB record into an array and refuses what a damaged or foreign record would smuggle in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.source_files import source_file

# What wfdb 4 raises on damaged headers and signals; found by feeding it some thousands of mutated files.
_WFDB_ERRORS = (
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    OSError,
    AttributeError,
    OverflowError,
    MemoryError,
)
# A line for each of at most 15 channels, and comments.
_MOST_HEADER_BYTES = 2**16
# Two hours of 16-bit samples at 1000 Hz in 15 channels; no record of the two databases lasts three minutes.
_MOST_SIGNAL_BYTES = 2**28
_UNIT = "mV"
# Steps a millivolt: 16 bits of less span 65 V, and of more a thousandth of a heartbeat.
_LEAST_GAIN, _LARGEST_GAIN = 1.0, 1e7


def read_wfdb(
    folder: Path,
    path: str,
    *,
    channel_names: Sequence[str],
    sampling_rate_hz: float,
    n_times: int | None = None,
) -> NDArray[np.float64]:
    """Read the signals of a record whose channels, rate and format are known beforehand.

    Signal files must lie beside the header and hold 16-bit samples of millivolt; its initial values and checksums are
    verified, 0 like any other, as wfdb 10.7 does. Case in channel names is ignored, order is not.

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
    first_samples = record.d_signal[0].tolist()
    for channel, expected, actual in zip(channel_names, header.init_value, first_samples, strict=True):
        if expected is not None and expected != actual:
            raise DamagedRecord(f"{path}: {channel} starts with {actual}, the header says {expected}")
    for channel, expected, actual in zip(channel_names, header.checksum, found, strict=True):
        if expected is not None and expected % 65536 != actual:
            why = "; some converters leave it at 0: get the publisher's header" if not expected else ""
            raise DamagedRecord(f"{path}: checksum of {channel} is {actual}, the header says {expected}{why}")
    finite = np.isfinite(signal).all(axis=0)
    if not finite.all():
        raise DamagedRecord(f"{path}: missing or invalid samples in {channel_names[int(finite.argmin())]}")
    return np.asarray(signal, dtype=np.float64)


def _read_header(folder: Path, path: str) -> Any:
    import wfdb

    source_file(folder, f"{path}.hea", _MOST_HEADER_BYTES)
    try:
        header = wfdb.rdheader(str(folder / path))
    except _WFDB_ERRORS as error:
        raise DamagedRecord(f"{path}.hea: not a WFDB header ({_one_line(error)})") from error
    if not isinstance(header, wfdb.Record):
        raise DamagedRecord(f"{path}.hea: a multi-segment header, expected one segment")
    if header.record_name != Path(path).name:
        raise DamagedRecord(f"{path}.hea: is the header of record '{header.record_name}'; get it again")
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
    for channel, gain, unit in zip(channel_names, header.adc_gain, header.units, strict=True):
        if not _LEAST_GAIN <= gain <= _LARGEST_GAIN:
            raise DamagedRecord(
                f"{where}: {channel} has a gain of {gain}: zero, negative, absurd or not a number"
            )
        if unit != _UNIT:
            raise DamagedRecord(f"{where}: {channel} is in '{unit}' instead of '{_UNIT}'")


def _check_files(header: Any, folder: Path, path: str) -> None:
    stem = Path(path).name
    for name in dict.fromkeys(header.file_name):
        if Path(name).name != name or Path(name).stem != stem:
            raise DamagedRecord(f"{path}.hea: names the signal file '{name}', expected one beside it")
        relative = Path(path).with_name(name).as_posix()
        found = source_file(folder, relative, _MOST_SIGNAL_BYTES).stat().st_size
        expected = 2 * header.sig_len * header.file_name.count(name)
        if found != expected:
            raise DamagedRecord(f"{relative}: {found} bytes, the header says {expected}")


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:120]
