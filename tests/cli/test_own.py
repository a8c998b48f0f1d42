"""A user's own model, dataset and checkpoint, without touching the package."""

import json
import re
from pathlib import Path

import pytest
import torch

from bench import models
from tests.cli.conftest import SMALL, Bench

pytestmark = pytest.mark.usefixtures("unreported")

GOOD = '''
"""A mean over time and two linear maps."""

from torch import nn


class MyNet(nn.Module):
    def __init__(self, *, n_channels, n_times, n_classes, width=8):
        super().__init__()
        self.body = nn.Linear(n_channels, width)
        self.head = nn.Linear(width, n_classes)

    def features(self, x):
        return self.body(x).tanh().mean(1)

    def forward(self, x):
        return self.head(self.features(x))
'''

DATASET = """
from dataclasses import replace
from bench.datasets import uci_har

FACTS = replace(uci_har.FACTS, name="my-har", title="My recordings")
REVISION = 1


def records(folder):
    return uci_har.records(folder)


def cut(folder, record):
    return uci_har.cut(folder, record)
"""


@pytest.fixture
def my_model(tmp_path: Path) -> Path:
    path = tmp_path / "my_model.py"
    path.write_text(GOOD)
    return path


def test_the_battery_passes_a_good_model(bench: Bench, my_model: Path) -> None:
    done = bench("check-model", "./my_model.py:MyNet")
    assert done.code == 0, done.out + done.err
    assert "FAIL" not in done.out


def test_the_help_has_the_contract_of_a_model(bench: Bench) -> None:
    told = bench("check-model", "--help").out
    for promise in (
        "__init__(self, *, n_channels, n_times, n_classes, ",
        "forward(x)     x: (batch, n_times, n_channels) float32; returns logits (batch, n_classes)",
        "features(x)    returns (batch, width)",
        "fit(X, y) and predict_proba(X) or decision_function(X)",
        "X: (n_windows, n_channels, n_times) float32",
    ):
        assert promise in told


def test_the_battery_says_what_fails(bench: Bench, my_model: Path) -> None:
    my_model.write_text(GOOD.replace(".mean(1)", ".mean((0, 1)).expand(len(x), -1)"))
    done = bench("check-model", "./my_model.py:MyNet")
    assert done.code == 1
    assert "FAIL" in done.out
    assert "independent" in done.out


def test_an_own_model_trains_and_its_source_is_in_the_key(
    bench: Bench, data: Path, my_model: Path, tmp_path: Path
) -> None:
    command = [
        "run",
        "--models",
        "./my_model.py:MyNet",
        "--datasets",
        "uci-har",
        "--data",
        data,
        "--out",
        "r",
    ]
    sets = ["--set", "epochs=1", "--seeds", "41", "--device", "cpu"]
    assert bench(*command, *sets).code == 0
    my_model.write_text(GOOD.replace("tanh", "relu"))
    second = bench(*command, *sets)
    assert "1 trained, 0 already done" in second.err
    third = bench(*command, *sets)
    assert "0 trained, 1 already done" in third.err
    assert len(list((tmp_path / "r").rglob("record.json"))) == 2


def test_an_own_dataset_trains(bench: Bench, data: Path, tmp_path: Path) -> None:
    (tmp_path / "my_dataset.py").write_text(DATASET)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my-har").symlink_to(data / "uci-har")
    done = bench(
        *("run", "--models", "transformer", "--datasets", "./my_dataset.py", "--data", "own", "--out", "r"),
        *("--set", "split=fold 1/3", *SMALL),
    )
    assert done.code == 0, done.err
    record = json.loads(next((tmp_path / "r").rglob("record.json")).read_text())
    assert record["cell"]["dataset"] == "my-har"


def test_a_file_without_the_class_is_one_line(bench: Bench, my_model: Path) -> None:
    done = bench("check-model", "./my_model.py:YourNet")
    assert done.code == 2
    assert "no class or function YourNet" in done.err


def test_a_published_checkpoint_is_evaluated(bench: Bench, data: Path, tmp_path: Path) -> None:
    state = {
        **published_transformer(
            models.build("transformer", 9, 128, 6, d_model=16, n_layers=1, d_ff=16, n_heads=2)
        ),
        "enc_embedding.temporal_embedding.embed.weight": torch.zeros(16, 4),
    }
    torch.save(state, tmp_path / "checkpoint.pth")
    sets = [x for key in ("d_model=16", "n_layers=1", "d_ff=16", "n_heads=2") for x in ("--set", key)]
    done = bench(
        *("evaluate", "--weights", "checkpoint.pth", "--model", "transformer", "--dataset", "uci-har"),
        *("--data", data, *sets),
    )
    assert done.code == 0, done.err
    assert "transformer on uci-har (simulated data, split " in done.out
    assert re.search(r"accuracy: +[0-9.]+ %  by guessing [0-9.]+ %", done.out)


def test_weights_of_an_own_model_give_the_scores_of_its_record(
    bench: Bench, data: Path, my_model: Path, tmp_path: Path
) -> None:
    own = ("--data", data, "--set", "width=5")
    trained = bench(
        *("run", "--models", "./my_model.py:MyNet", "--datasets", "uci-har", "--out", "r", *own),
        *("--set", "epochs=1", "--seeds", "41", "--device", "cpu"),
    )
    assert trained.code == 0, trained.err
    (weights,) = (tmp_path / "r").rglob("weights.safetensors")
    f1 = json.loads(weights.with_name("record.json").read_text())["metrics"]["test"]["f1"]
    asked = ("evaluate", "--weights", weights, "--dataset", "uci-har", "--data", data)
    done = bench(*asked, "--model", "./my_model.py:MyNet")
    assert done.code == 0, done.err
    assert re.search(rf"f1: +{100 * f1:.2f} %", done.out)
    assert "weights of my_model.MyNet, not of patchtst" in bench(*asked, "--model", "patchtst").err
    assert (
        "give the hyperparameters" in bench(*asked, "--model", "./my_model.py:MyNet", "--set", "width=6").err
    )


def test_a_pickle_in_a_checkpoint_is_not_run(bench: Bench, data: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "exploded",))

    torch.save({"weight": Bomb()}, tmp_path / "bomb.pth")
    done = bench(
        *(
            "evaluate",
            "--weights",
            "bomb.pth",
            "--model",
            "transformer",
            "--dataset",
            "uci-har",
            "--data",
            data,
        )
    )
    assert done.code == 2
    assert "not a file of plain tensors" in done.err
    assert not (tmp_path / "exploded").exists()


def published_transformer(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the state dict of a one-layer Transformer under the published code's names."""
    layer, ours = "encoder.attn_layers.0", model.state_dict()
    names = {
        "embedding.token.weight": "enc_embedding.value_embedding.tokenConv.weight",
        **{
            f"encoder.layers.0.attention.{p}.{t}": f"{layer}.attention.{p}_projection.{t}"
            for p in ("query", "key", "value", "out")
            for t in ("weight", "bias")
        },
        **{f"encoder.layers.0.feed_forward.up.{t}": f"{layer}.conv1.{t}" for t in ("weight", "bias")},
        **{f"encoder.layers.0.feed_forward.down.{t}": f"{layer}.conv2.{t}" for t in ("weight", "bias")},
        **{
            f"encoder.layers.0.{n}.{t}": f"{layer}.{n}.{t}"
            for n in ("norm1", "norm2")
            for t in ("weight", "bias")
        },
        **{f"encoder.norm.{t}": f"encoder.norm.{t}" for t in ("weight", "bias")},
        **{f"head.projection.{t}": f"projection.{t}" for t in ("weight", "bias")},
    }
    return {names[name]: tensor for name, tensor in ours.items()}


LEAVES_A_PROCESS = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            LEAVES_A_PROCESS,
            "leaves processes running, in every cell: 1",
        ),
        ("import sys; sys.exit(0)", "raises SystemExit: 0"),
        ("import os; os._exit(3)", "ends the process (exit code 3)"),
    ],
)
def test_the_battery_first_says_what_an_import_does(
    bench: Bench, my_model: Path, line: str, said: str
) -> None:
    my_model.write_text(f"{line}\n{GOOD}")
    done = bench("check-model", "./my_model.py:MyNet")
    assert done.code == 1
    assert f"FAIL  import\n      importing it {said}" in done.out
