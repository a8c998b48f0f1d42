"""Reading EEGLAB recordings: ``.set`` files of both MATLAB formats, with the signal inside or in an ``.fdt`` file.

The fields are those of EEGLAB's own description of the ``EEG`` structure (eeglab.org, "EEG data structure"); no other
is decoded. mne reads version 5 as well, but not 7.3 without a further package, it holds the signal twice in double
precision, and follows the companion's name out of the folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats import matlab_hdf5 as hdf5
from bench.datasets.formats.matlab import MalformedError, MatArray, read_variables, unreadable
from bench.datasets.formats.source_files import is_there, refused_as, source_file

if TYPE_CHECKING:
    import h5py

_FIELDS = ("data", "srate", "nbchan", "pnts", "trials", "chanlocs")
# Of a signal: five times the longest recording of ADFTD in double precision. Of a number, and of a text.
_MOST_BYTES, _FEW_BYTES = 2**29, 2**12
_MOST_CHANNELS = 1024


@dataclass(frozen=True)
class EegRecording:
    """A continuous recording. ``signal`` is ``(n_times, n_channels)`` in microvolt; ``remarks`` say what was mended."""

    signal: NDArray[np.floating]
    sampling_rate_hz: float
    channel_names: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def read_set(folder: Path, relative: str) -> EegRecording:
    """Read a ``.set`` file, and the ``.fdt`` file beside it when it names one.

    A pair that was renamed is read too: where the named ``.fdt`` is absent, one of the file's own stem is taken if
    its size fits, and a remark says so.

    Parameters
    ----------
    folder
        The dataset's folder, which no path may leave.
    relative
        The file in it.

    Raises
    ------
    DamagedRecord
        A file is missing, truncated or inconsistent, or the recording is cut in epochs.
    """
    path = source_file(folder, relative, _MOST_BYTES)
    fields = _read_hdf5(path) if hdf5.is_hdf5(path) else _read_classic(path)
    for name in _FIELDS:
        if name not in fields:
            raise DamagedRecord(f"{path.name}: has no field EEG.{name}; not a recording of EEGLAB")
    if _number(path, fields, "trials") != 1:
        raise DamagedRecord(
            f"{path.name}: is cut in {fields['trials']} epochs, a continuous recording is needed"
        )
    n_channels, n_times = (int(_number(path, fields, name)) for name in ("nbchan", "pnts"))
    names = tuple(fields["chanlocs"])
    if len(names) != n_channels:
        raise DamagedRecord(f"{path.name}: {len(names)} channel names for {n_channels} channels")
    data, remarks = fields["data"], ()
    if isinstance(data, str):
        companion, remarks = _companion(folder, Path(relative), data, 4 * n_channels * n_times)
        data = _read_fdt(folder, companion, n_channels, n_times)
    if data.shape != (n_channels, n_times):
        raise DamagedRecord(f"{path.name}: announces {n_channels} x {n_times} values and holds {data.shape}")
    return EegRecording(data.T, _number(path, fields, "srate"), names, remarks)


def _number(path: Path, fields: Mapping[str, Any], name: str) -> float:
    """Return a field that must be one positive number below 2**31."""
    value = np.asarray(fields[name])
    if value.size != 1 or value.dtype.kind not in "uif" or not 0 < value.item() < 2**31:
        raise DamagedRecord(f"{path.name}: EEG.{name} is not a positive number: {str(fields[name])[:60]}")
    return float(value.item())


def _companion(folder: Path, relative: Path, named: str, n_bytes: int) -> tuple[Path, tuple[str, ...]]:
    """Return the file of the signal within the folder: the one named, or that of the recording's own stem."""
    path, own = relative.parent / named, relative.with_suffix(".fdt")
    if path == own or is_there(folder / path) or not is_there(folder / own):
        return path, ()
    if source_file(folder, str(own)).stat().st_size != n_bytes:
        return path, ()
    return own, (f"{relative.name}: names '{named}', which is absent; read {own.name}, whose size fits",)


def _read_fdt(folder: Path, relative: Path, n_channels: int, n_times: int) -> NDArray[np.float32]:
    """Read the companion: float32, little-endian, all channels of a sample together."""
    path = source_file(folder, str(relative), _MOST_BYTES)
    size, expected = path.stat().st_size, 4 * n_channels * n_times
    if size != expected:
        raise DamagedRecord(
            f"{relative}: {size} bytes instead of {expected}; get it again from the publisher"
        )
    with refused_as(DamagedRecord, relative):
        return np.fromfile(path, dtype="<f4").reshape(n_times, n_channels).T


def _real_matrix(path: Path, data: NDArray[Any]) -> NDArray[np.floating]:
    if data.dtype.kind not in "uif" or data.ndim != 2:
        raise DamagedRecord(
            f"{path.name}: EEG.data is not a matrix of real numbers: {data.dtype}, {data.shape}"
        )
    return data if data.dtype.kind == "f" else data.astype(np.float32)


def _read_classic(path: Path) -> dict[str, Any]:
    """Return the fields of a version 5 file, whether saved as one structure or field by field."""
    variables = read_variables(path, "EEG", *_FIELDS, most_bytes=_MOST_BYTES)
    try:
        found = _classic_fields(path, variables)
        return {name: _classic_value(path, name, array) for name, array in found.items()}
    except MalformedError as error:
        raise unreadable(path, error) from error


def _classic_fields(path: Path, variables: dict[str, MatArray]) -> dict[str, MatArray]:
    structure = variables.get("EEG")
    if structure is None:
        return variables
    if structure.kind != "structure" or structure.size != 1:
        raise DamagedRecord(f"{path.name}: EEG is not one structure; save the recording alone")
    present = set(structure.field_names())
    return {name: structure.field(name)[0] for name in _FIELDS if name in present}


def _classic_value(path: Path, name: str, array: MatArray) -> Any:
    if name == "chanlocs":
        return _classic_labels(path, array)
    if array.kind == "text":
        return array.text()
    if array.kind == "numbers":
        return _real_matrix(path, array.numbers()) if name == "data" else array.numbers()
    raise DamagedRecord(
        f"{path.name}: EEG.{name} is {array.words}, "
        + ("not a matrix of real numbers" if name == "data" else "not a number")
    )


def _classic_labels(path: Path, chanlocs: MatArray) -> list[str]:
    if chanlocs.kind != "structure" or "labels" not in chanlocs.field_names():
        raise DamagedRecord(f"{path.name}: EEG.chanlocs has no labels, so the channels are unknown")
    if chanlocs.size > _MOST_CHANNELS:
        raise DamagedRecord(f"{path.name}: {chanlocs.size} channels, at most {_MOST_CHANNELS} are expected")
    return [_label(array) for array in chanlocs.field("labels")]


def _label(array: MatArray) -> str:
    """Return a channel's name; numbers are names too, and nothing at all is an empty one."""
    if array.kind == "text":
        return array.text().strip()
    return "".join(map(str, array.numbers().ravel().tolist())) if array.size <= 1 else array.words


def _read_hdf5(path: Path) -> dict[str, Any]:
    """Return the fields of a version 7.3 file."""
    import h5py

    with hdf5.opened(path) as file:
        root = hdf5.member(file, "EEG") if "EEG" in hdf5.names_in(file) else file
        if not isinstance(root, h5py.Group):
            raise ValueError("EEG is not one structure")
        names = hdf5.names_in(root)
        nodes = {name: hdf5.member(root, name) for name in _FIELDS if name in names}
        fields = {name: _hdf5_value(name, node) for name, node in nodes.items() if name != "chanlocs"}
        if "chanlocs" in nodes:
            fields["chanlocs"] = _hdf5_labels(file, nodes["chanlocs"])
    if isinstance(fields.get("data"), np.ndarray):
        fields["data"] = _real_matrix(path, fields["data"]).T
    return fields


def _hdf5_value(name: str, node: object) -> Any:
    array = hdf5.array_of(node, f"EEG.{name}", _MOST_BYTES if name == "data" else _FEW_BYTES)
    if hdf5.is_text(array, node):
        return hdf5.text_of(array, node).strip()
    if hdf5.matlab_class(node) == "logical":
        raise ValueError(f"EEG.{name} holds logical values, not numbers")
    return array


def _hdf5_labels(file: "h5py.File", chanlocs: object) -> list[str]:
    import h5py

    if not isinstance(chanlocs, h5py.Group) or "labels" not in hdf5.names_in(chanlocs):
        raise ValueError("EEG.chanlocs has no labels")
    node = hdf5.member(chanlocs, "labels")
    # References, of 8 bytes each; the only channel of a recording has its name there itself.
    array = hdf5.array_of(node, "chanlocs.labels", 8 * _MOST_CHANNELS)
    targets = [file[reference] for reference in array.ravel()] if array.dtype == object else [node]
    return [
        hdf5.text_of(hdf5.array_of(target, "chanlocs.labels", _FEW_BYTES), target).strip()
        for target in targets
    ]
