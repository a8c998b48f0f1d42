"""Reading EEGLAB recordings: ``.set`` files of both MATLAB formats, with the signal inside or in an ``.fdt`` file.

The fields are those of EEGLAB's own description of the ``EEG`` structure (eeglab.org, "EEG data structure").
mne reads version 5 as well, but not 7.3 without a further package, it holds the signal twice in double precision,
and follows the companion's name out of the folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.matlab import read_variables
from bench.datasets.formats.source_files import source_file

if TYPE_CHECKING:
    import h5py

_FIELDS = ("data", "srate", "nbchan", "pnts", "trials", "chanlocs")
# Of the signal, and of a field beside it: a damaged header may announce anything.
_MOST_BYTES, _FEW_BYTES = 2**31, 2**16
_HDF5_SIGNATURE, _HDF5_OFFSET = b"\x89HDF\r\n\x1a\n", 512


@dataclass(frozen=True)
class EegRecording:
    """A continuous recording. ``signal`` is ``(n_times, n_channels)`` in microvolt."""

    signal: NDArray[np.floating]
    sampling_rate_hz: float
    channel_names: tuple[str, ...]


def read_set(folder: Path, relative: str) -> EegRecording:
    """Read a ``.set`` file, and the ``.fdt`` file beside it when it names one.

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
    path = source_file(folder, relative)
    fields = _read_hdf5(path) if _is_hdf5(path) else _read_classic(path)
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
    data = fields["data"]
    if isinstance(data, str):
        data = _read_fdt(folder, Path(relative).parent / data, n_channels, n_times)
    if data.shape != (n_channels, n_times):
        raise DamagedRecord(f"{path.name}: announces {n_channels} x {n_times} values and holds {data.shape}")
    return EegRecording(data.T, _number(path, fields, "srate"), names)


def _number(path: Path, fields: Mapping[str, Any], name: str) -> float:
    """Return a field that must be one positive number below 2**31."""
    value = np.asarray(fields[name])
    if value.size != 1 or value.dtype.kind not in "uif" or not 0 < value.item() < 2**31:
        raise DamagedRecord(f"{path.name}: EEG.{name} is not a positive number: {str(fields[name])[:60]}")
    return float(value.item())


def _read_fdt(folder: Path, relative: Path, n_channels: int, n_times: int) -> NDArray[np.float32]:
    """Read the companion: float32, little-endian, all channels of a sample together."""
    path = source_file(folder, str(relative))
    size, expected = path.stat().st_size, 4 * n_channels * n_times
    if size != expected:
        raise DamagedRecord(
            f"{relative}: {size} bytes instead of {expected}; get it again from the publisher"
        )
    return np.fromfile(path, dtype="<f4").reshape(n_times, n_channels).T


def _real_matrix(path: Path, data: NDArray[Any]) -> NDArray[np.floating]:
    if data.dtype.kind not in "uif" or data.ndim != 2:
        raise DamagedRecord(
            f"{path.name}: EEG.data is not a matrix of real numbers: {data.dtype}, {data.shape}"
        )
    return data if data.dtype.kind == "f" else data.astype(np.float32)


def _read_classic(path: Path) -> dict[str, Any]:
    """Return the fields of a version 5 file, whether saved as one structure or field by field."""
    variables = read_variables(path, "EEG", *_FIELDS)
    structure = variables.get("EEG", variables)
    if isinstance(structure, np.ndarray):
        if structure.dtype.names is None or structure.size != 1:
            raise DamagedRecord(f"{path.name}: EEG is not one structure; save the recording alone")
        record = structure.reshape(-1)[0]
        structure = {name: record[name] for name in structure.dtype.names}
    fields = {name: structure[name] for name in _FIELDS if name in structure}
    if "chanlocs" in fields:
        fields["chanlocs"] = _classic_labels(path, fields["chanlocs"])
    if "data" in fields:
        data = fields["data"]
        fields["data"] = (
            str(data.item()) if data.dtype.kind == "U" and data.size == 1 else _real_matrix(path, data)
        )
    return fields


def _classic_labels(path: Path, chanlocs: NDArray[Any]) -> list[str]:
    if chanlocs.dtype.names is None or "labels" not in chanlocs.dtype.names:
        raise DamagedRecord(f"{path.name}: EEG.chanlocs has no labels, so the channels are unknown")
    return ["".join(map(str, np.ravel(label))).strip() for label in chanlocs["labels"].ravel()]


def _is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(_HDF5_OFFSET + len(_HDF5_SIGNATURE))
    return start.startswith(_HDF5_SIGNATURE) or start[_HDF5_OFFSET:] == _HDF5_SIGNATURE


def _read_hdf5(path: Path) -> dict[str, Any]:
    """Return the fields of a version 7.3 file, where a matrix is stored transposed and text as character codes."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            root = _hdf5_member(file, "EEG") if "EEG" in _hdf5_names(file) else file
            if not isinstance(root, h5py.Group):
                raise ValueError("EEG is not one structure")
            names = _hdf5_names(root)
            fields: dict[str, Any] = {
                name: _hdf5_array(
                    _hdf5_member(root, name), name, _MOST_BYTES if name == "data" else _FEW_BYTES
                )
                for name in _FIELDS
                if name in names and name != "chanlocs"
            }
            if "chanlocs" in names:
                fields["chanlocs"] = _hdf5_labels(file, _hdf5_member(root, "chanlocs"))
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
        raise DamagedRecord(f"{path.name}: not a readable MATLAB 7.3 file ({error}); get it again") from error
    if "data" in fields:
        data = fields["data"]
        fields["data"] = _text(data) if data.dtype == np.uint16 else _real_matrix(path, data).T
    return fields


def _hdf5_names(group: "h5py.Group") -> set[str]:
    """Return the names in a group without following any link."""
    return set(group.keys())


def _hdf5_member(group: "h5py.Group", name: str) -> object:
    """Return what is in the group itself; a link could lead into another file."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link and not in the file itself")
    return group[name]


def _hdf5_array(node: object, name: str, most_bytes: int = _FEW_BYTES) -> NDArray[Any]:
    import h5py

    if not isinstance(node, h5py.Dataset):
        raise ValueError(f"EEG.{name} is not an array")
    if node.external or node.is_virtual:
        raise ValueError(f"EEG.{name} is stored outside of the file")
    if node.nbytes > most_bytes:
        raise ValueError(f"EEG.{name} announces {node.nbytes} bytes, at most {most_bytes} are expected")
    return np.asarray(node[()])


def _hdf5_labels(file: "h5py.File", chanlocs: object) -> list[str]:
    import h5py

    if not isinstance(chanlocs, h5py.Group) or "labels" not in _hdf5_names(chanlocs):
        raise ValueError("EEG.chanlocs has no labels")
    references = _hdf5_array(_hdf5_member(chanlocs, "labels"), "chanlocs.labels")
    return [_text(_hdf5_array(file[one], "chanlocs.labels")) for one in references.ravel()]


def _text(codes: NDArray[Any]) -> str:
    return "".join(map(chr, codes.ravel())).strip()
