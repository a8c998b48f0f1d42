"""Processes that work for this one: forked with their imports done, watched, and ended with all that they started."""

import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, util
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from bench.descendants import adopt_orphans, descendants, end_descendants, end_strays, kill
from bench.errors import BenchError
from bench.main_guard import require_main_guard

if TYPE_CHECKING:
    import psutil

# What the fork server imports, by what its processes do. Importing these runs no tensor operation, and torch._dynamo
# is a second's import that every optimiser asks for.
COMPUTING = (
    "torch",
    "torch._dynamo",
    "sklearn.metrics",
    "scipy.special",
    "psutil",
    "threadpoolctl",
    "bench.models.medmamba",
    "bench.models.reformer",
    "bench.run.cells.train_cell",
    "bench.run.trial",
)
DRAWING = (
    "bench.report.contents",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "fontTools.subset",
)
GRACE_S = 5.0
# How long one fork server after the other may die before a process is given up.
FORK_SERVER_S = 60.0
# What multiprocessing gives for a process whose fork server died, whether it lives on or not.
LOST_CODE = 255

# Longest name of a folder, in bytes, that leaves room for a socket in it: paths of sockets have 104 on macOS.
LONGEST_FOLDER = 64

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def fork_server(preload: Sequence[str] = COMPUTING) -> ForkServerContext:
    """Return multiprocessing's context with its fork server running; another one is started where it has died.

    The fork server does the slow imports once, and runs nothing else. multiprocessing has one for all users in a
    program, and gives it its list of imports at its start only: whoever asks first decides. So a run starts it before
    windows are cut.

    Raises
    ------
    UsageError
        A script asks for processes where each of them would ask again.
    BenchError
        No folder for temporary files can be used.
    """
    require_main_guard()
    _choose_folder_of_sockets()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bench.adopting", *preload])
    with _environment_of_server():
        forkserver.ensure_running()
    return context


def _choose_folder_of_sockets() -> None:
    """Have multiprocessing keep its sockets in a folder for temporary files whose name is short enough."""
    before = tempfile.tempdir
    try:
        if len(os.fsencode(tempfile.gettempdir())) > LONGEST_FOLDER:
            tempfile.tempdir = "/tmp"  # noqa: S108 the folder made in it is this user's alone
        util.get_temp_dir()
    except OSError as error:
        raise BenchError(
            f"TMPDIR={os.environ.get('TMPDIR', '')}: no folder for temporary files can be used ({error}); make room "
            f"there, or set TMPDIR to a folder that can be written, with a name of at most {LONGEST_FOLDER} bytes"
        ) from error
    finally:
        tempfile.tempdir = before


@contextmanager
def _environment_of_server() -> Iterator[None]:
    """Have a process that is started meanwhile make no thread pools, which a fork would not survive.

    Nor does it take a notebook's choice of how matplotlib draws, which need not be installed here, or hear
    Ctrl-C, which is for this process to answer.
    """
    answer = _ignore_ctrl_c()
    before = {name: os.environ.get(name) for name in (*_POOLS, "MPLBACKEND")}
    os.environ.update(dict.fromkeys(_POOLS, "1"))
    os.environ.pop("MPLBACKEND", None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        answer()


def _ignore_ctrl_c() -> Callable[[], object]:
    """Ignore Ctrl-C, which a process started now then does too; return what has it answered again."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    return lambda: signal.signal(signal.SIGINT, before)


class Child:
    """A process that runs one function, and can be talked with.

    It is the first of a group of its own, and takes in what its descendants leave behind, so that all it starts is
    ended with it, and ends when this process does, however that ends. Ctrl-C is for this process to answer; Ctrl-Z
    pauses children too.

    Parameters
    ----------
    work
        A module's function, called in the process with ``given`` and its end of the connection.
    preload
        What the fork server imports, if it has not been started yet.

    Raises
    ------
    BenchError
        No process can be started, because what they are forked from dies again and again.
    """

    def __init__(self, work: Callable[..., None], *given: object, preload: Sequence[str] = COMPUTING) -> None:
        self.process, self.connection = _start(work, given, preload)
        self._known: dict[int, psutil.Process] = {}
        _CHILDREN.add(self)
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, _pause)

    @property
    def pid(self) -> int:
        """The number of the process and of its group."""
        assert self.process.pid is not None
        return self.process.pid

    def received(self) -> Iterator[Any]:
        """Yield what the process has sent and was not taken yet; waits for nothing."""
        try:
            while not self.connection.closed and self.connection.poll():
                yield self.connection.recv()
        except (EOFError, OSError):
            # Its end; an OSError where it was killed within a message.
            self.connection.close()

    @property
    def exit_code(self) -> int:
        """Minus the signal's number if one ended the process; `LOST_CODE` where only its fork server is known dead."""
        return self.process.exitcode or 0

    @property
    def death(self) -> str:
        """The signal or the exit code that the process ended with."""
        code = self.exit_code
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def count_started(self) -> int:
        """Return how many processes live that the process has started, and they in turn; they are remembered."""
        found = descendants(self.pid)
        self._known |= {process.pid: process for process in found}
        return len(found)

    def end(self) -> None:
        """End the process and all that it started, at once; also one that outlived its fork server."""
        self.signal_group(signal.SIGSTOP)
        end_descendants(self.pid)
        kill(self._known.values())
        self.signal_group(signal.SIGKILL)
        self.process.kill()  # where it has not made its group yet
        self.process.join()
        # What has left the group of a child that was killed: the fork server has adopted it by now.
        if (server := getattr(forkserver._forkserver, "_forkserver_pid", None)) is not None:
            end_strays(server)
        self.connection.close()
        _CHILDREN.discard(self)

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and all that it started."""
        # There is none before its first line, nor after the last of its processes; macOS refuses dead ones.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


_CHILDREN: WeakSet[Child] = WeakSet()


def wait_for_news(children: Iterable[Child], timeout_s: float | None = None) -> bool:
    """Sleep until a child has sent something or has ended; tell whether one has."""
    sources: list[Connection | int] = []
    for child in children:
        sources.append(child.process.sentinel)
        sources += [] if child.connection.closed else [child.connection]
    return bool(wait(sources, timeout_s))


def wait_for_end(child: Child) -> None:
    """Sleep until a child has ended."""
    wait([child.process.sentinel])


def stop(children: Sequence[Child], first: signal.Signals = signal.SIGTERM) -> None:
    """End children with all that they started: by a signal that they can answer, some seconds later for good."""
    for child in children:
        # It may have ended, and been waited for, meanwhile.
        if child.process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(child.pid, first)
    for child in children:
        child.process.join(GRACE_S)
        child.end()


def _start(
    work: Callable[..., None], given: tuple[object, ...], preload: Sequence[str]
) -> tuple[ForkServerProcess, Connection]:
    """Start a process; when the fork server has just died, wait until multiprocessing notices and starts another."""
    deadline = time.monotonic() + FORK_SERVER_S
    while True:
        try:
            context = fork_server(preload)
            ours, theirs = context.Pipe()
            process = context.Process(target=_run, args=(work, given, theirs), daemon=True)
            process.start()
        except (ConnectionError, EOFError) as error:
            if time.monotonic() > deadline:
                raise BenchError(
                    "the process that workers are forked from dies again and again, perhaps for lack of memory; "
                    "finished cells are kept, and the same command continues from there"
                ) from error
            time.sleep(0.1)
        else:
            theirs.close()
            return process, ours


def _run(work: Callable[..., None], given: tuple[object, ...], connection: Connection) -> None:
    os.setpgid(0, 0)
    adopt_orphans()
    _begin()
    code = 1
    try:
        work(*given, connection)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # it is this process's last word
        traceback.print_exc()
    finally:
        connection.close()
        end_descendants(os.getpid())
        for stream in (sys.stdout, sys.stderr):
            with suppress(ValueError, OSError, AttributeError):
                stream.flush()
        # Threads of a user's code, and what it has registered to run at the end, are not waited for.
        os._exit(code)


def _begin() -> None:
    # What the fork server has loaded stays; looking at it again in every collection would take a tenth of the time.
    gc.freeze()
    # Ctrl-C reaches all processes of a terminal; the parent is the one to answer it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """End this process, and its group if it is the first of one, when the one that asked for it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    end_descendants(os.getpid())
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _pause(_signal: int, _frame: FrameType | None) -> None:
    """Stop with all children until this process is to go on; a terminal's Ctrl-Z does not reach their groups."""
    children = list(_CHILDREN)
    for child in children:
        child.signal_group(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    for child in children:
        child.signal_group(signal.SIGCONT)
