"""Writing MATLAB 5 files with bytes that depend on the content only."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.files import atomic_file

# scipy puts the time of day here, which would make equal cohorts differ.
_DESCRIPTION = b"MATLAB 5.0 MAT-file, simulated by medmamba-bench".ljust(116)


def write_mat(path: Path, variables: Mapping[str, Any]) -> None:
    """Write variables; dicts become structures, arrays of objects become cells."""
    from scipy.io import savemat

    buffer = io.BytesIO()
    savemat(buffer, dict(variables), oned_as="row", long_field_names=True)
    with atomic_file(path) as temporary:
        temporary.write_bytes(_DESCRIPTION + buffer.getvalue()[len(_DESCRIPTION) :])
