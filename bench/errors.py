"""The errors that a user can cause and mend, each with the exit code of the command line.

A message says what is wrong, in which file or option, with which value, and what to do.
Everything else that is raised is a defect of this package and keeps its traceback.
"""

import difflib
from collections.abc import Iterable


class BenchError(Exception):
    """Base of all errors that are shown to the user as one line, without a traceback."""

    exit_code = 2


class UsageError(BenchError):
    """An option, a name or a value given by the user cannot be used."""


class DataError(BenchError):
    """A dataset's files are missing, damaged or not what they should be."""


class ModelError(BenchError):
    """A model cannot be built or loaded as asked."""


class RecordError(BenchError):
    """A results folder or a file in it cannot be read or written."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is not registered, with the nearest match and the whole list."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return UsageError(f"unknown {kind} '{name}'.{hint} Known: {', '.join(known)}")
