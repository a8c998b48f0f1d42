"""Two processes on one cell compute what one process computes."""

import copy
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from click.testing import CliRunner
from torch import Tensor
from torch.multiprocessing.spawn import start_processes

from bench import models
from bench.cli import main
from bench.models import registry
from bench.run.distributed import DistributedFit, differs_because
from bench.settings import preset, resolve
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.seeding import seed_default_generators

# The last batch is incomplete and cannot be halved (19 = 8 + 8 + 3), or not be shared out at all (17 = 8 + 8 + 1).
N_TRAIN, N_VALIDATION, BATCH = (19, 17), 11, 8
N_TIMES, N_CHANNELS, N_CLASSES = 64, 3, 3
MODELS, MICRO = ("transformer", "medmamba"), (None, 5)
CASES = list(product(MODELS, MICRO, N_TRAIN))
NO_DROPOUT = {"dropout": 0.0, "channel_dropout": 0.0, "drop_path": 0.0}


def part(n: int, who: str, seed: int) -> Part:
    draw = np.random.default_rng(seed)
    windows = draw.normal(size=(n, N_TIMES, N_CHANNELS))
    return Part(windows, draw.integers(N_CLASSES, size=n), np.array([who] * n), np.arange(n))  # type: ignore[arg-type]


@contextmanager
def kept_in_float64() -> Iterator[None]:
    """Keep the trainer from rounding logits of float64 to float32, which hides what is to be compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Tensor, "float", lambda self: self if self.dtype == torch.float64 else self.to(torch.float32)
        )
        yield


@kept_in_float64()
def train(model_name: str, kind: type[Fit], n_train: int, micro: int | None) -> dict[str, Tensor]:
    """Train two epochs in float64 and return weights, buffers, losses and F1."""
    settings = resolve(
        model_name, "apava", 41, recipe_name="medmamba", preset=preset("paper"), assignments={"d_model": 16}
    )
    training = settings.protocol.model_copy(
        update={"batch_size": BATCH, "micro_batch_size": micro, "epochs": 2, "warmup_epochs": 1}
    )
    known = registry.hyperparameters(model_name)
    wanted = {**settings.hyperparameters, **NO_DROPOUT, "n_layers": 1, "d_ff": 16, "n_heads": 2}
    chosen = {name: value for name, value in wanted.items() if name in known}
    seed_default_generators(41)
    model = models.build(model_name, N_CHANNELS, N_TIMES, N_CLASSES, **chosen).double()
    fit = kind(model, part(n_train, "a", 1), part(N_VALIDATION, "b", 2), training, 41)
    epochs = [fit.run_epoch() for _ in range(2)]
    numbers = torch.tensor([[e.train_loss, e.val_loss, e.val_f1] for e in epochs], dtype=torch.float64)
    return {"epochs": numbers} | {name: value.double() for name, value in fit.model.state_dict().items()}


def whole_and_resumed() -> dict[str, Any]:
    """Train three epochs with dropout at once, then the last two from the state after the first."""
    settings = resolve(
        "transformer", "apava", 41, recipe_name="medmamba", preset=preset("demo"), assignments={}
    )
    training = settings.protocol.model_copy(update={"batch_size": BATCH, "epochs": 3, "warmup_epochs": 1})

    def new() -> DistributedFit:
        seed_default_generators(41)
        model = models.build(
            "transformer", N_CHANNELS, N_TIMES, N_CLASSES, d_model=16, n_layers=1, dropout=0.5
        )
        return DistributedFit(model.double(), part(19, "a", 1), part(N_VALIDATION, "b", 2), training, 41)

    whole = new()
    whole.run_epoch()
    # The first process writes the checkpoint that all go on from.
    told = [copy.deepcopy(whole.state_dict())]
    dist.broadcast_object_list(told)
    for _ in range(2):
        whole.run_epoch()
    resumed = new()
    resumed.load_state_dict(told[0])
    for _ in range(2):
        resumed.run_epoch()
    return {"whole": whole.model.state_dict(), "resumed": resumed.model.state_dict()}


def rank_of_all(rank: int, port: int, out: str) -> None:
    """Do what all tests of two ranks compare: starting a group of processes takes longer than training in it."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    for model_name, micro, n_train in CASES:
        state = train(model_name, DistributedFit, n_train, micro)
        torch.save(state, f"{out}/{model_name}-{micro}-{n_train}-{rank}.pt")
    torch.save(whole_and_resumed(), f"{out}/resumed-{rank}.pt")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes of one group have computed, a file for each rank and case."""
    out = tmp_path_factory.mktemp("ranks")
    start_processes(rank_of_all, (free_port(), str(out)), nprocs=2, start_method="forkserver")
    return out


@pytest.mark.parametrize("micro", MICRO, ids=["whole batches", "micro-batches"])
@pytest.mark.parametrize("model_name", MODELS)
def test_two_ranks_equal_one_process(model_name: str, micro: int | None, ranks: Path) -> None:
    for n_train in N_TRAIN:
        alone = train(model_name, Fit, n_train, micro)
        for rank in range(2):
            file = ranks / f"{model_name}-{micro}-{n_train}-{rank}.pt"
            together: dict[str, Any] = torch.load(file, weights_only=True)
            assert together.keys() == alone.keys()
            for name, value in alone.items():
                torch.testing.assert_close(
                    together[name], value, rtol=1e-9, atol=1e-9, msg=f"{name}, {n_train}"
                )


def test_a_model_that_draws_numbers_is_known_to_differ() -> None:
    for name in registry.names():
        settings = resolve(name, "apava", 41, recipe_name="medmamba", preset=preset("demo"), assignments={})
        model = models.build(name, 3, 64, 3, **settings.hyperparameters)
        assert not hasattr(model, "draws") or differs_because(name), name


def test_resumed_ranks_draw_on_as_they_would_have(ranks: Path) -> None:
    for rank in range(2):
        kept: dict[str, Any] = torch.load(ranks / f"resumed-{rank}.pt", weights_only=True)
        for name, value in kept["whole"].items():
            assert torch.equal(value, kept["resumed"][name]), name


def test_torchrun_trains_a_cell_and_writes_one_record(data: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "r")
    grid = ["--models", "transformer", "--datasets", "uci-har", "--data", str(data), "--seeds", "41"]
    grid += ["--set", "epochs=1", "--set", "d_model=16", "--set", "n_layers=1", "--out", out]

    def bench(*arguments: str) -> str:
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    bench("data", "prepare", "uci-har", "--data", str(data))
    (line, *_) = bench("run", "--dry-run", *grid).splitlines()
    key = line.split()[4]
    torchrun = ["torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port())]
    done = subprocess.run(
        [sys.executable, "-m", *torchrun, "-m", "bench", "cell", key, *grid, "--device", "cpu"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "r").rglob("record.json")
    record = json.loads(path.read_text())
    assert record["key"].startswith(key)
    assert (record["outcome"], record["environment"]["ranks"]) == ("ok", 2)
    assert "1 done" in bench("run", "--dry-run", *grid)


def test_the_docs_list_the_models_that_differ() -> None:
    text = (Path(__file__).parents[2] / "docs" / "grid.md").read_text(encoding="utf-8")
    for name in filter(differs_because, registry.names()):
        assert name in text, name
