"""The parent's side of a model's process: start it, request runs with a deadline, and explain its end."""

import signal
from types import TracebackType
from typing import Self

from bench.measure import child
from bench.measure.child import Ask, Broke, Loaded, Visited
from bench.measure.workload import Subject, Workload
from bench.processes import GRACE_S, Child, stop, wait_for_news

LOAD_LIMIT_S = 120.0


class ProcessError(Exception):
    """A model's process gave no answer; the message says why."""


class DoesNotFitError(ProcessError):
    """The process lacked memory."""


class TookTooLongError(ProcessError):
    """The process was stopped at its deadline."""


class ModelProcess:
    """A fresh process that holds one model.

    Use it in a ``with`` block; the process is gone at its end.

    Raises
    ------
    DoesNotFitError, TookTooLongError, ProcessError
        On entry: the model could not be loaded.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.given_up = False
        self._child = Child(child.main, subject)

    def __enter__(self) -> Self:
        """Wait until the model is loaded."""
        try:
            answer = self._answer(LOAD_LIMIT_S, "loading")
        except BaseException:
            self.close()
            raise
        assert isinstance(answer, Loaded)
        self.loaded = answer
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.close()

    def visit(self, workload: Workload, at_least_s: float, limit_s: float) -> Visited:
        """Run a workload for at least some seconds.

        Raises
        ------
        DoesNotFitError, TookTooLongError, ProcessError
            There is no answer. The process is ended, so that it neither goes on computing nor answers late.
        """
        name = f"{self.subject.model}, {workload}"
        if self.given_up:
            raise ProcessError(f"{name}: its process was given up before")
        try:
            return self._asked(Ask(workload, at_least_s), name, limit_s)
        except ProcessError:
            self.given_up = True
            self._child.end()
            raise

    def _asked(self, ask: Ask, name: str, limit_s: float) -> Visited:
        try:
            self._child.connection.send(ask)
        except OSError as error:
            raise self._death(name) from error
        answer = self._answer(limit_s, str(ask.workload))
        assert isinstance(answer, Visited)
        assert answer.workload == ask.workload
        return answer

    def close(self) -> None:
        """End the process."""
        stop([self._child])

    def _answer(self, limit_s: float, doing: str) -> Loaded | Visited:
        name = f"{self.subject.model}, {doing}"
        if not wait_for_news([self._child], limit_s):
            raise TookTooLongError(f"{name}: no answer in time")
        answer = next(self._child.received(), None)
        if answer is None:
            raise self._death(name)
        if isinstance(answer, Broke) and answer.out_of_memory:
            raise DoesNotFitError(f"{name}: out of memory ({answer.message})")
        if isinstance(answer, Broke):
            raise ProcessError(f"{name}: {answer.message}")
        return answer

    def _death(self, name: str) -> ProcessError:
        """Return the error for the death of the process: with limited memory, most likely the lack of it."""
        self._child.process.join(GRACE_S)
        if self._child.exit_code in (-signal.SIGKILL, -signal.SIGABRT):
            return DoesNotFitError(f"{name}: the process died of {self._child.death}, as without memory")
        return ProcessError(f"{name}: the process ended with exit code {self._child.exit_code}")
