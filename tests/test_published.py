"""Published models as contenders of the benchmark: built from the user's checkout, called with the series alone."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import bench_models
from benchmarks.speed.published import published_model

SHAPE = {"n_times": 16, "n_channels": 3, "n_classes": 4}
MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, configs):
        super().__init__()
        print("what some published models say when they are built")
        self.configs = configs
        self.projection = torch.nn.Linear(configs.seq_len * configs.enc_in, configs.num_class)

    def forward(self, x, mask, _decoded, _marks):
        return self.projection((x * mask.unsqueeze(-1)).flatten(1))
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder laid out like the published repository, with one model of our own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "models"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "MTST.py").write_text(MODULE, encoding="utf-8")
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "models"]:
        del sys.modules[name]


def test_a_published_model_gets_our_settings_and_gives_logits(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = published_model(checkout, "mtst", {"n_layers": 2, "patch_lengths": [2, 8], "d_model": 32}, SHAPE)
    configs: Any = model.get_submodule("model").configs
    assert (configs.e_layers, configs.patch_len_list, configs.d_model) == (2, "2,8", 32)
    assert (configs.enc_in, configs.dec_in) == (
        3,
        7,
    )  # decoders, which no class needs, keep the program's default
    assert model(torch.ones(5, 16, 3)).shape == (5, 4)
    assert capsys.readouterr().out == ""  # stdout is the table's


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no models/Transformer\.py; give a checkout"):
        published_model(tmp_path, "transformer", {}, SHAPE)


def test_the_table_says_how_many_times_the_published_speed_we_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def speeds(name: str, mode: str, *_: object) -> dict[str, float]:
        ours = {"torch": 20.0, "native": 50.0 if mode == "training" else 90.0, "floor": 100.0}
        return ours if name == "medmamba" else {**ours, "published": 20.0}

    monkeypatch.setattr(bench_models, "windows_per_second", speeds)
    monkeypatch.setattr(bench_models, "machine", lambda: "a machine")
    head, rule, *rows = list(bench_models.table(["mtst", "medmamba"], 1, Path("checkout")))[2:]
    assert {line.count("|") for line in (head, rule, *rows)} == {head.count("|")}
    assert [row.split(" | ")[-3:] for row in rows] == [["50%", "2.50", "4.50 |"], ["50%", "-", "- |"]]
