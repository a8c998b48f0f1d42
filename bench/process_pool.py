"""Calls of functions in several processes; one that dies, even within its answer, is an error and never waited for."""

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pickle import PicklingError
from queue import SimpleQueue
from typing import Any, TypeVar, TypeVarTuple

from bench.processes import Child, fork_server

_Given = TypeVarTuple("_Given")
_Result = TypeVar("_Result")


class ProcessPool:
    """Processes that take one call after the other, each from a thread of this process that hears it.

    The standard library's pool has one pipe for the answers of all: what a process has begun to say when it is killed
    is waited for as long as another one could write there. Here a pipe ends with its process.

    Parameters
    ----------
    n_workers
        Most processes; each of the first calls starts one.
    preload
        What their fork server imports, if it has not been started yet.
    """

    def __init__(self, n_workers: int, preload: Sequence[str]) -> None:
        self._n_workers, self._preload = n_workers, preload
        self._children: list[Child] = []
        self._idle: SimpleQueue[Child] = SimpleQueue()
        self._threads = ThreadPoolExecutor(n_workers)

    def submit(self, work: Callable[[*_Given], _Result], *given: *_Given) -> Future[_Result]:
        """Have a module's function called in a process.

        Returns
        -------
        Future
            What the function returns or raises, with the process's traceback as a note; `BrokenProcessPool` where
            the process dies.
        """
        if len(self._children) < self._n_workers:
            self._children.append(Child(_answer_calls, preload=self._preload))
            self._idle.put(self._children[-1])
        return self._threads.submit(self._call, work, given)

    def _call(self, work: Callable[..., _Result], given: tuple[Any, ...]) -> _Result:
        child = self._idle.get()
        try:
            child.connection.send((work, given))
            result, error = child.connection.recv()
        except (EOFError, OSError) as lost:
            raise BrokenProcessPool("a process died within a call") from lost
        finally:
            self._idle.put(child)
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """End the processes at once; calls not answered yet are dropped."""
        for child in self._children:
            child.signal_group(signal.SIGKILL)
            child.process.kill()
        # No thread reads from a pipe any more when it is closed.
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            child.end()


@contextmanager
def process_pool(n_workers: int, preload: Sequence[str] = ()) -> Iterator[ProcessPool]:
    """Run a block with so many processes, which end with it; what they have not answered by then is dropped."""
    fork_server(preload)
    pool = ProcessPool(n_workers, preload)
    try:
        yield pool
    finally:
        pool.end()


def _answer_calls(connection: Connection) -> None:
    """Call what the connection says until it ends; the work of a process."""
    # The pipe is to end with this process, also where a reader of somebody's own has forked.
    os.register_at_fork(after_in_child=connection.close)
    with suppress(EOFError):
        while True:
            answer = _result_or_error(*connection.recv())
            try:
                connection.send(answer)
            # Pickling comes before the first byte.
            except (PicklingError, TypeError, AttributeError) as error:
                connection.send((None, TypeError(f"an answer that cannot be sent: {error}")))


def _result_or_error(work: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    try:
        return work(*given), None
    except BaseException as error:  # it is raised where the answer is waited for
        error.add_note(f"In its process:\n{traceback.format_exc()}")
        return None, error
