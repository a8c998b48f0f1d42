"""A user's own dataset file, asked in a process of its own: what it does when it is imported reaches nothing of ours.

    python -m bench.datasets.own.own_file FILE ANSWER [FOLDER]

writes what the file says of itself to ANSWER as JSON, or the records that it lists in FOLDER. Its ``cut`` runs in the
processes that prepare windows.
"""

import importlib.metadata
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from bench import plugins
from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord, as_one_line
from bench.errors import BenchError, DataError

_STDERR = 2
_PARTS = ("FACTS", "REVISION", "records", "cut")
# Long enough for a listing over a slow network.
_LONGEST_S = 900.0
# Names folders of the cache and of reports.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")


class _Described(BaseModel):
    """What a file says of itself."""

    facts: DatasetFacts
    revision: int
    libraries: tuple[str, ...] = ()
    known_copies: tuple[str, ...] = ()


class _Answer(BaseModel):
    """What the process wrote: one of the three."""

    described: _Described | None = None
    listed: SourceList | None = None
    problem: str | None = None


@dataclass(frozen=True)
class OwnReader:
    """Reads a user's dataset by the user's file; a `Reader` like the modules of the published datasets."""

    path: Path
    FACTS: DatasetFacts
    REVISION: int
    LIBRARIES: tuple[str, ...]
    KNOWN_COPIES: tuple[str, ...]

    @property
    def __file__(self) -> str:
        """Where the user's code is, for messages."""
        return str(self.path)

    def records(self, folder: Path) -> SourceList:
        """List what there is to read.

        Raises
        ------
        DataError
            The file refuses the folder, fails, or returns no list of records.
        """
        listed = _ask(self.path, folder).listed
        assert listed is not None, f"{self.path} listed nothing"
        return listed

    def cut(self, folder: Path, record: SourceRecord) -> Cut:
        """Read one record in this process, which must be one that only reads.

        Raises
        ------
        DamagedRecord
            The file says so of the record.
        DataError
            The file fails, or returns no windows.
        """
        found = _guarded(self.path, "cut()", lambda: plugins.load(self.path).cut(folder, record))
        if not isinstance(found, Cut):
            raise DataError(
                f"{self.path}: cut() returned {type(found).__name__} instead of a Cut; fix the reader"
            )
        return found


def own_reader(path: Path) -> OwnReader:
    """Return the reader that a user's file defines.

    Raises
    ------
    DataError
        The file lacks a part of a reader, fails when it is imported, or says something unusable of itself.
    """
    return _described(path, plugins.source_hash(path))


@cache
def _described(path: Path, source: str) -> OwnReader:
    """Ask a file once for each state of its source."""
    del source
    said = _ask(path, None).described
    assert said is not None, f"{path} said nothing of itself"
    return OwnReader(path, said.facts, said.revision, said.libraries, said.known_copies)


def _ask(path: Path, folder: Path | None) -> _Answer:
    """Ask a file in a process of its own; where this process is one of many that read already, in this one."""
    answer = _answer(path, folder) if multiprocessing.parent_process() else _asked_apart(path, folder)
    if answer.problem is not None:
        raise DataError(answer.problem)
    return answer


def _asked_apart(path: Path, folder: Path | None) -> _Answer:
    """Run this module as a program; what the file leaves running is ended with it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / "answer.json"
        command = [
            sys.executable,
            "-m",
            __name__,
            str(path),
            str(written),
            *([str(folder)] if folder else []),
        ]
        with subprocess.Popen(  # noqa: S603 the user named this file to be run
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=_STDERR,
            start_new_session=True,
        ) as child:
            try:
                code = child.wait(_LONGEST_S)
            except subprocess.TimeoutExpired:
                return _Answer(problem=f"{path}: has not answered for {_LONGEST_S:g} s; fix the file")
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        if not written.exists():
            return _Answer(problem=f"{path}: ended its process with {code} and no answer; fix the file")
        return _Answer.model_validate_json(written.read_bytes())


def _answer(path: Path, folder: Path | None) -> _Answer:
    try:
        module = _guarded(path, "import", lambda: plugins.load(path))
        missing = [part for part in _PARTS if not hasattr(module, part)]
        if missing:
            raise DataError(f"{path}: a dataset's file must define {', '.join(missing)}")
        if folder is None:
            return _Answer(described=_description(path, module))
        listed = _guarded(path, "records()", lambda: module.records(folder))
        return _Answer(listed=_typed(path, "records()", SourceList, listed))
    except BenchError as error:
        return _Answer(problem=as_one_line(str(error)))


def _description(path: Path, module: ModuleType) -> _Described:
    said = {
        "facts": _typed(path, "FACTS", DatasetFacts, module.FACTS),
        "revision": module.REVISION,
        "libraries": getattr(module, "LIBRARIES", ()),
        "known_copies": tuple(getattr(module, "KNOWN_COPIES", ())),
    }
    try:
        described = _Described.model_validate(said)
    except ValidationError as error:
        raise _wrong_type(path, "the file", error) from error
    if not _NAME.fullmatch(described.facts.name):
        raise DataError(f"{path}: FACTS.name {described.facts.name!r}: use letters, digits, '-', '_' and '.'")
    texts = (described.facts.title, described.facts.version, *described.facts.class_names)
    strange = next((text for text in texts if not text.isprintable()), None)
    if strange is not None:
        raise DataError(f"{path}: FACTS: {strange[:60]!r}: must be printable text on one line; fix the file")
    for library in described.libraries:
        try:
            importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError as error:
            raise DataError(
                f"{path}: LIBRARIES names '{library}', which is not installed; install it"
            ) from error
    return described


def _typed(path: Path, what: str, kind: type, value: Any) -> Any:
    """Return a value with all its parts in the types that the contract says."""
    if type(value) is not kind:
        raise DataError(
            f"{path}: {what} is {type(value).__name__} instead of a {kind.__name__}; fix the reader"
        )
    try:
        adapter = TypeAdapter(kind)
        return adapter.validate_json(adapter.dump_json(value, warnings="none"))
    except (ValidationError, ValueError, TypeError) as error:
        raise _wrong_type(path, what, error) from error


def _wrong_type(path: Path, what: str, error: Exception) -> DataError:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        return DataError(f"{path}: {what}: {field}: {first['msg']}, found {str(first['input'])[:60]!r}")
    return DataError(as_one_line(f"{path}: {what}: {error}; fix the reader"))


def _guarded(path: Path, what: str, call: Callable[[], Any]) -> Any:
    """Run a user's code and tell whatever it raises as one line, an exit too."""
    try:
        return call()
    except DamagedRecord:
        raise
    except BenchError as error:
        named = str(error) if str(path) in str(error) else f"{path}: {error}"
        raise DataError(as_one_line(named)) from error
    except BaseException as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        if isinstance(error, SyntaxError):
            lines = [error.lineno]
        where = f"{path}, line {lines[-1]}" if lines else str(path)
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DataError(as_one_line(f"{where}: {what} failed ({said}); fix the file")) from error


def _main(arguments: Sequence[str]) -> None:
    path, written, *folder = map(Path, arguments)
    answer = _answer(path, folder[0] if folder else None)
    written.write_text(answer.model_dump_json(), encoding="utf-8")
    # What the file has registered to run at the end, or left running, is not waited for.
    os._exit(0)


if __name__ == "__main__":
    _main(sys.argv[1:])
