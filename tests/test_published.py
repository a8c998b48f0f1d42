"""Published models as contenders of the benchmark: built from the user's checkout, called with the series alone."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.speed.published import published_model

SHAPE = {"n_times": 16, "n_channels": 3, "n_classes": 4}
MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, configs):
        super().__init__()
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


def test_a_published_model_gets_our_settings_and_gives_logits(checkout: Path) -> None:
    model = published_model(checkout, "mtst", {"n_layers": 2, "patch_lengths": [2, 8], "d_model": 32}, SHAPE)
    configs: Any = model.get_submodule("model").configs
    assert (configs.e_layers, configs.patch_len_list, configs.d_model) == (2, "2,8", 32)
    assert model(torch.ones(5, 16, 3)).shape == (5, 4)


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no models/Transformer\.py; give a checkout"):
        published_model(tmp_path, "transformer", {}, SHAPE)
