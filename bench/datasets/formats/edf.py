"""Reading header and annotations of an EDF or EDF+ file, which mne reads leniently: it repairs sizes, takes any range.

Source of the layout: Kemp et al., "A simple format for exchange of digitized polygraphic recordings", 1992, and
Kemp and Olivan, "European data format plus", 2003. Dates in the header are kept as text: they need not be dates.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.source_files import open_regular, read_regular, refused_as

_MAX_SIGNALS = 512
# In the unit of the signal: no physiological signal in microvolt is as large.
_MAX_PHYSICAL = 1e6
# Time of onset, duration if any, and the texts.
_TIMED = re.compile(rb"([+-]\d{1,9}(?:\.\d{0,9})?)(?:\x15(\d{1,9}(?:\.\d{0,9})?))?\x14(.*)\x14", re.DOTALL)
# Name and width in bytes of what each signal has in the header; all signals' labels come first, and so on.
_SIGNAL_FIELDS = (
    ("label", 16),
    ("transducer", 80),
    ("unit", 8),
    ("physical minimum", 8),
    ("physical maximum", 8),
    ("digital minimum", 8),
    ("digital maximum", 8),
    ("filter", 80),
    ("samples per data record", 8),
    ("reserved", 32),
)


@dataclass(frozen=True)
class EdfSignal:
    """One signal as the header describes it."""

    label: str
    unit: str
    physical_range: tuple[float, float]
    digital_range: tuple[float, float]
    n_per_data_record: int


@dataclass(frozen=True)
class EdfHeader:
    """A header whose numbers agree with the size of its file; ``start`` is date and time, as written."""

    signals: tuple[EdfSignal, ...]
    n_data_records: int
    data_record_s: float
    start: str

    def only_signal(self, path: Path, label: str, unit: str, sampling_rate_hz: float) -> EdfSignal:
        """Return the one signal of a label.

        Raises
        ------
        DamagedRecord
            It is missing, doubled, of another rate or unit, or its ranges make no sense.
        """
        found = [signal for signal in self.signals if signal.label == label]
        if len(found) != 1:
            labels = ", ".join(signal.label for signal in self.signals[:10])
            raise DamagedRecord(
                f"{path.name}: has {len(found)} channels '{label}' instead of 1, but: {labels}"
            )
        signal = found[0]
        rate = signal.n_per_data_record / self.data_record_s if self.data_record_s else 0.0
        if rate != sampling_rate_hz:
            raise DamagedRecord(f"{path.name}: '{label}' has {rate:g} Hz instead of {sampling_rate_hz:g} Hz")
        if signal.unit != unit:
            raise DamagedRecord(f"{path.name}: '{label}' is in '{signal.unit}' instead of '{unit}'")
        low, high = signal.physical_range
        is_sane = max(abs(low), abs(high)) <= _MAX_PHYSICAL and low != high
        if not is_sane or signal.digital_range[0] >= signal.digital_range[1]:
            raise DamagedRecord(f"{path.name}: '{label}' has an absurd range, {low:g} to {high:g} {unit}")
        return signal


@dataclass(frozen=True)
class EdfAnnotation:
    """A text that holds from a time after the start of the file on."""

    onset_s: float
    duration_s: float
    text: str


def read_header(path: Path) -> EdfHeader:
    """Read and check a header.

    Raises
    ------
    DamagedRecord
        The file is not EDF, has not the size that its header announces, or the header holds absurd values.
    """
    with refused_as(DamagedRecord, path.name), open_regular(path) as file:
        start = file.read(256)
        if len(start) < 256 or start[:8].strip() != b"0":
            raise DamagedRecord(f"{path.name}: not an EDF file; get it again from the publisher")
        n_signals = int(_number(path, "number of signals", start[252:256], 1, _MAX_SIGNALS))
        per_signal = file.read(256 * n_signals)
        size = file.seek(0, 2)
    if start[192:197] == b"EDF+D":
        raise DamagedRecord(f"{path.name}: is a discontinuous recording, a continuous one is needed")
    if len(per_signal) < 256 * n_signals:
        raise DamagedRecord(f"{path.name}: truncated inside the header; get it again from the publisher")
    header = EdfHeader(
        signals=_signals(path, per_signal, n_signals),
        n_data_records=int(_number(path, "number of data records", start[236:244], 1, 10**7)),
        data_record_s=_number(path, "duration of a data record", start[244:252], 0, 10**6),
        start=start[168:184].decode("latin-1").strip(),
    )
    n_header = _number(path, "size of header", start[184:192], 256, 10**6)
    expected = n_header + header.n_data_records * _record_bytes(header)
    if n_header != 256 * (1 + n_signals) or size < expected:
        raise DamagedRecord(f"{path.name}: truncated: {size} bytes, its header announces {expected:.0f}")
    # A wrong size of any signal moves all others: the samples read would be someone else's.
    if size > expected:
        raise DamagedRecord(
            f"{path.name}: {size} bytes, its header announces {expected:.0f}; get it again from the publisher"
        )
    return header


def read_annotations(path: Path, most_bytes: int) -> list[EdfAnnotation]:
    """Return the annotations of an EDF+ file in the order of the file, without those that only keep time.

    Raises
    ------
    DamagedRecord
        The file is not EDF, is damaged or larger than ``most_bytes``, or an annotation is none.
    """
    header = read_header(path)
    with refused_as(DamagedRecord, path.name):
        content = read_regular(path, most_bytes)
    found: list[EdfAnnotation] = []
    offset = 256 * (1 + len(header.signals))
    for _ in range(header.n_data_records):
        for signal in header.signals:
            n_bytes = 2 * signal.n_per_data_record
            if signal.label == "EDF Annotations":
                found.extend(_annotations(path, content[offset : offset + n_bytes]))
            offset += n_bytes
    return found


def _annotations(path: Path, text: bytes) -> Iterator[EdfAnnotation]:
    """Yield what one data record holds: lists of texts with a time, each ended by a zero."""
    for timed in filter(None, text.split(b"\0")):
        match = _TIMED.fullmatch(timed)
        if match is None:
            raise DamagedRecord(f"{path.name}: {timed[:40]!r} is no annotation; get it again")
        for label in filter(None, match[3].split(b"\x14")):
            yield EdfAnnotation(
                float(match[1]), float(match[2] or 0), label.decode("utf-8", errors="replace")
            )


def _record_bytes(header: EdfHeader) -> int:
    return 2 * sum(signal.n_per_data_record for signal in header.signals)


def _signals(path: Path, fields: bytes, n_signals: int) -> tuple[EdfSignal, ...]:
    columns: dict[str, list[bytes]] = {}
    offset = 0
    for name, width in _SIGNAL_FIELDS:
        columns[name] = [fields[offset + i * width : offset + (i + 1) * width] for i in range(n_signals)]
        offset += n_signals * width

    def numbers(name: str, low: float = -math.inf, high: float = math.inf) -> list[float]:
        return [_number(path, name, text, low, high) for text in columns[name]]

    def texts(name: str) -> list[str]:
        return [text.decode("latin-1").strip() for text in columns[name]]

    return tuple(
        EdfSignal(label, unit, physical, digital, int(n))
        for label, unit, physical, digital, n in zip(
            texts("label"),
            texts("unit"),
            zip(numbers("physical minimum"), numbers("physical maximum"), strict=True),
            zip(numbers("digital minimum"), numbers("digital maximum"), strict=True),
            numbers("samples per data record", 1, 10**7),
            strict=True,
        )
    )


def _number(path: Path, name: str, text: bytes, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise DamagedRecord(f"{path.name}: {name} in the header is {text!r}, not a number") from error
    if not low <= value <= high:
        raise DamagedRecord(f"{path.name}: {name} in the header is {value:g}, an absurd value")
    return value
