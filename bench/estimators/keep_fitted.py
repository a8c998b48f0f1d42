"""The fitted state of an estimator, written where a user asks for it; this package reads none back."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any, Literal, get_args

from bench.errors import UsageError
from bench.files import atomic_file

Writer = Literal["skops", "joblib"]
"""What writes it: skops names every class that it would load, joblib's pickle runs whatever it holds."""
WRITERS: tuple[Writer, ...] = get_args(Writer)
_MODULES = {"skops": "skops.io", "joblib": "joblib"}


def require_writer(writer: Writer) -> None:
    """Refuse a package that is not installed.

    Raises
    ------
    UsageError
        It is not.
    """
    if importlib.util.find_spec(writer) is None:
        extra = f"medmamba-bench with the extra '{writer}'" if writer == "skops" else writer
        raise UsageError(
            f"--keep-fitted {writer}: the package {writer} is not installed; install {extra}, or leave the option out"
        )


def write_fitted(estimator: Any, path: Path, writer: Writer) -> None:
    """Write a fitted estimator.

    Parameters
    ----------
    estimator
        Fitted on labels without gaps, whose meaning is `bench.estimators.contract.Fitted`'s.
    path
        The file.
    writer
        The package that writes it.

    Raises
    ------
    UsageError
        The package is not installed.
    """
    require_writer(writer)
    module = importlib.import_module(_MODULES[writer])
    with atomic_file(path) as temporary:
        module.dump(estimator, temporary)
