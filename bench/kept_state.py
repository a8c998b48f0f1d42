"""What a user's file may change in this process while it is imported, put back afterwards."""

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO


@contextmanager
def kept_state() -> Iterator[None]:
    """Run a block; then put back the current folder, output, signal handlers, generators and torch's defaults.

    Other code of this process relies on them. Torch's are kept where it was imported before.
    """
    with ExitStack() as after:
        for keep in (_folder, _output, _signals, _generators, _torch):
            after.callback(keep())
        yield


def _folder() -> Callable[[], object]:
    before = os.open(".", os.O_RDONLY)

    def restore() -> None:
        os.fchdir(before)
        os.close(before)

    return restore


def _output() -> Callable[[], object]:
    """Keep standard output and error, which are opened again on their files where they were closed."""
    streams = (sys.stdout, sys.stderr)
    copies = {number: os.dup(number) for number in (1, 2) if _is_open(number)}

    def restore() -> None:
        for number, copy in copies.items():
            if not (_is_open(number) and os.path.sameopenfile(number, copy)):
                os.dup2(copy, number)
            os.close(copy)
        sys.stdout, sys.stderr = (
            stream if stream is None or not stream.closed else _opened_again(number)
            for number, stream in zip((1, 2), streams, strict=True)
        )

    return restore


def _opened_again(number: int) -> TextIO:
    return open(number, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _signals() -> Callable[[], object]:
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}

    def restore() -> None:
        signal.alarm(0)
        for number, handler in before.items():
            # None stands for a handler that is not Python's, which cannot be put back.
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)

    return restore


def _generators() -> Callable[[], object]:
    state = random.getstate()
    numpy = sys.modules.get("numpy.random")
    if numpy is None:
        return lambda: random.setstate(state)
    of_numpy = numpy.get_state()

    def restore() -> None:
        random.setstate(state)
        numpy.set_state(of_numpy)

    return restore


def _torch() -> Callable[[], object]:
    torch = sys.modules.get("torch")
    if torch is None:
        return lambda: None
    kind, threads, generator = torch.get_default_dtype(), torch.get_num_threads(), torch.get_rng_state()
    is_recording = torch.is_grad_enabled()

    def restore() -> None:
        torch.set_default_dtype(kind)
        torch.set_default_device(None)
        torch.set_grad_enabled(is_recording)
        torch.set_num_threads(threads)
        torch.set_rng_state(generator)

    return restore
