"""The parent's end of a model's process: start, ask with a deadline, and say what became of it."""

import multiprocessing
import signal
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bench.measure import child
from bench.measure.child import Ask, Broke, Loaded, Visited
from bench.measure.workload import Subject, Workload

# torch._dynamo is a second's import that every optimiser asks for.
PRELOAD = [
    "torch",
    "torch._dynamo",
    "bench.models",
    "bench.models.medmamba",
    "bench.models.reformer",
    "bench.train.optimiser",
]
LOAD_LIMIT_S = 120.0
GRACE_S = 2.0


class ProcessError(Exception):
    """A model's process gave no answer; the message says why."""


class DoesNotFitError(ProcessError):
    """It lacked memory."""


class TookTooLongError(ProcessError):
    """It was stopped at its deadline."""


@dataclass(frozen=True)
class _Deadline:
    clock: float

    @classmethod
    def after(cls, seconds: float) -> "_Deadline":
        return cls(time.monotonic() + seconds)

    @property
    def left_s(self) -> float:
        return max(0.0, self.clock - time.monotonic())


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
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOAD)
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=child.main, args=(subject, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        """Wait until the model is loaded."""
        try:
            answer = self._answer(_Deadline.after(LOAD_LIMIT_S), "loading")
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
        """Have a workload run for at least some seconds.

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
            self._give_up()
            raise

    def _asked(self, ask: Ask, name: str, limit_s: float) -> Visited:
        try:
            self._ours.send(ask)
        except OSError as error:
            raise self._death(name) from error
        answer = self._answer(_Deadline.after(limit_s), str(ask.workload))
        assert isinstance(answer, Visited)
        assert answer.workload == ask.workload
        return answer

    def _give_up(self) -> None:
        self.given_up = True
        self._process.kill()
        self.close()

    def close(self) -> None:
        """End the process, politely first."""
        self._ours.close()
        self._process.join(GRACE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _answer(self, deadline: _Deadline, doing: str) -> Loaded | Visited:
        name = f"{self.subject.model}, {doing}"
        if not self._ours.poll(deadline.left_s):
            raise TookTooLongError(f"{name}: no answer in time")
        try:
            answer = self._ours.recv()
        except (EOFError, OSError) as error:
            raise self._death(name) from error
        if isinstance(answer, Broke) and answer.out_of_memory:
            raise DoesNotFitError(f"{name}: out of memory ({answer.message})")
        if isinstance(answer, Broke):
            raise ProcessError(f"{name}: {answer.message}")
        return answer

    def _death(self, name: str) -> ProcessError:
        """Return what the death of the process means: where memory is limited, most likely the lack of it."""
        self._process.join(GRACE_S)
        code = self._process.exitcode
        if code in (-signal.SIGKILL, -signal.SIGABRT):
            return DoesNotFitError(
                f"{name}: the process died of {signal.Signals(-code).name}, as without memory"
            )
        return ProcessError(f"{name}: the process ended with exit code {code}")
