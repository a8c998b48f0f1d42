"""The fork server of a run: every worker is forked from it, with the slow imports done.

Whoever needs any forked process in a run, the cutting of windows included, starts it here first.
"""

from multiprocessing.context import ForkServerContext

from bench import processes

# Importing these runs no tensor operation. torch._dynamo is a second's import that every optimiser asks for.
PRELOAD = (
    "torch",
    "torch._dynamo",
    "sklearn.metrics",
    "scipy.special",
    "threadpoolctl",
    "bench.run.cell",
    "bench.run.trial",
)


def fork_server() -> ForkServerContext:
    """Return multiprocessing's context with the fork server of runs running."""
    return processes.fork_server(PRELOAD)
