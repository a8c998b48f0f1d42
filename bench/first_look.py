"""A first import of a user's file, in a process of its own: whether it ends, raises, or leaves processes running."""

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from bench import plugins
from bench.descendants import MOST_PROCESSES, descendants
from bench.processes import Child, wait_for_news

LONGEST_S = 120.0
_LOOK_S = 0.2


def first_look(path: Path) -> str | None:
    """Return what is wrong with importing a file, None if nothing is; whatever it starts is ended."""
    child = Child(_import, path)
    deadline = time.monotonic() + LONGEST_S
    try:
        while time.monotonic() < deadline:
            wait_for_news([child], _LOOK_S)
            n_processes = child.count_started()
            if n_processes > MOST_PROCESSES:
                return f"importing it starts {n_processes} processes, more than {MOST_PROCESSES}"
            for problem in child.received():
                return problem
            if not child.process.is_alive():
                return f"importing it ends the process ({child.death})"
        return f"importing it has not ended after {LONGEST_S:g} s"
    finally:
        child.end()


def _import(path: Path, connection: Connection) -> None:
    try:
        plugins.load(path)
    except (Exception, SystemExit) as error:  # a user's file may raise anything; it is reported, not hidden
        connection.send(f"importing it raises {type(error).__name__}: {error}")
        return
    n_left = len(descendants(os.getpid()))
    connection.send(f"importing it leaves processes running, in every cell: {n_left}" if n_left else None)
