"""Training and inference speed of every model beside its matrix products alone, as a markdown table.

    python -m benchmarks.bench_models [MODEL ...] [--published DIR] [--rounds 5] [--write]

At ADFTD's shape, script widths, batch 16, one thread: medians of CPU time. The contenders of a model take turns, so
that drift hits all alike: attention and dropout layers in torch, in the C kernels, and with ``--published`` the
published code from a checkout of DL4mHealth/Medformer. The floor is every matrix product of the step, attention's
included, at the speed of torch's own products of these very shapes and layouts; a kernel may be faster at small ones.
"""

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.models import registry
from benchmarks.marks import write_between_marks

BATCH = 16
MODES = ("training", "inference")
BACKENDS = ("torch", "native")


def main() -> int:
    """Print a row for each model as soon as it is known."""
    parser = argparse.ArgumentParser(description="Speed of the models and their floor of matrix products.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all registered models")
    parser.add_argument("--published", type=Path, metavar="DIR", help="checkout of DL4mHealth/Medformer")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender (default 5)")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md, too")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported
    import torch

    torch.set_num_threads(1)
    lines = []
    for line in table(asked.models or registry.names(all_only=True), asked.rounds, asked.published):
        print(line, flush=True)
        lines.append(line)
    if asked.write:
        write_between_marks("models", "bench_models", lines)
    return 0


def table(names: list[str], rounds: int, published: Path | None) -> Iterator[str]:
    """Describe the machine, then measure and yield the table's lines, all numbers windows a second."""
    yield machine()
    yield ""
    columns = [*BACKENDS, *(["published"] if published else []), "floor"]
    heads = [
        f"{mode}: {columns[0]}" if i == 0 else column for mode in MODES for i, column in enumerate(columns)
    ]
    heads.append("share of the floor, training")
    if published:
        heads += [f"native to published, {mode}" for mode in MODES]
    yield f"| model | {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * len(heads)}"
    for name in names:
        speeds = {mode: windows_per_second(name, mode, rounds, published) for mode in MODES}
        found = [speeds[mode].get(column) for mode in MODES for column in columns]
        cells = [f"{speed:.1f}" if speed else "-" for speed in found]
        cells.append(f"{speeds['training']['native'] / speeds['training']['floor']:.0%}")
        if published:
            cells += [times_published(speeds[mode]) for mode in MODES]
        yield f"| {name} | {' | '.join(cells)} |"


def times_published(speeds: dict[str, float]) -> str:
    """Return how many times the published speed our native backend reaches, as a cell of the table."""
    return f"{speeds['native'] / speeds['published']:.2f}" if "published" in speeds else "-"


def windows_per_second(name: str, mode: str, rounds: int, published: Path | None) -> dict[str, float]:
    """Return the speed of each contender, and of the matrix products alone."""
    from benchmarks.scan.clock import cpu_seconds
    from benchmarks.speed.products import floor_seconds, products_of

    calls = dict(contenders(name, mode, published))
    taken = cpu_seconds(calls, rounds)
    taken["floor"] = floor_seconds(products_of(run_of(name, mode, dropout=False)), rounds)
    return {contender: BATCH / seconds for contender, seconds in taken.items()}


def contenders(name: str, mode: str, published: Path | None) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give what takes turns: the model by every backend, and as published."""
    from benchmarks.speed.published import MODULES

    for backend in BACKENDS:
        yield backend, with_backend(backend, run_of(name, mode))
    if published is not None and name in MODULES:
        yield "published", run_of(name, mode, published=published)


def run_of(
    name: str, mode: str, *, dropout: bool = True, published: Path | None = None
) -> Callable[[], object]:
    """Return one step of training, or one evaluation, of a freshly built model."""
    from bench.measure.environment import describe
    from bench.measure.measurement import Place, subject_of, task_of
    from bench.measure.workload import Workload, prepare
    from benchmarks.speed.published import published_model

    place = Place(environment=describe("cpu", 1, "float32", None), memory_limit_bytes=None)
    task = task_of("adftd")
    subject = subject_of(name, task, "script", "paper", place)
    if not dropout:
        subject = replace(subject, hyperparameters={**subject.hyperparameters, **without_dropout(name)})
    shape = task.model_dump(include={"n_times", "n_channels", "n_classes"})
    model = (
        subject.load()
        if published is None
        else published_model(published, name, subject.hyperparameters, shape)
    )
    return prepare(model, subject, Workload("training" if mode == "training" else "inference", BATCH))


def without_dropout(name: str) -> dict[str, float]:
    """Return the settings that turn a model's dropout off."""
    return {key: 0.0 for key in registry.hyperparameters(name) if key in ("dropout", "channel_dropout")}


def with_backend(backend: str, run: Callable[[], object]) -> Callable[[], object]:
    """Return a run with attention and dropout layers on a backend."""

    def call() -> object:
        with environment(BENCH_ATTENTION=backend, BENCH_DROPOUT=backend):
            return run()

    return call


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables within the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def machine() -> str:
    """Describe what the numbers were measured on."""
    import torch

    from bench.attention.native import library
    from bench.measure.environment import cpu_name
    from bench.native.library import ISA_NAMES

    return (
        f"Measured on {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}: {cpu_name()}, {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"native kernels on {ISA_NAMES[library.ATTENTION.best_isa]}; load average before: {os.getloadavg()[0]:.1f}."
    )


if __name__ == "__main__":
    sys.exit(main())
