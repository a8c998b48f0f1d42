"""Models of installed packages, and what the key knows of a user's source."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch

from bench.errors import ModelError
from bench.models import registry

NET = """
from torch import nn
from .layers import WIDTH


class Net(nn.Module):
    def __init__(self, *, n_channels, n_times, n_classes, width=4):
        super().__init__()
        self.head = nn.Linear(n_channels, n_classes)

    def forward(self, x):
        return WIDTH * self.head(x.mean(1))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package that offers a good model and one whose module is gone."""
    folder = tmp_path / "offered_nets"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "layers.py").write_text("WIDTH = 2\n")
    (folder / "net.py").write_text(NET)
    info = tmp_path / "offered_nets-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offered-nets\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{registry.ENTRY_POINTS}]\ngood-net = offered_nets.net:Net\ngone-net = gone.deep.net:Net\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_table", cache(registry._table.__wrapped__))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "offered_nets"]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_an_installed_packages_model_may_import_relatively() -> None:
    model = registry.build("good-net", 3, 8, 2)
    assert model(torch.zeros(1, 8, 3)).shape == (1, 2)


def test_an_installed_packages_whole_source_is_in_the_key(package: Path) -> None:
    before = registry.revision("good-net")
    assert registry.hyperparameters("good-net") == {"width": 4}
    (package / "layers.py").write_text("WIDTH = 3\n")
    assert registry.revision("good-net") != before


@pytest.mark.usefixtures("package")
def test_a_broken_package_stops_no_other_model() -> None:
    assert {"good-net", "gone-net", "transformer"} <= set(registry.names())
    assert registry.revision("transformer") == 2
    with pytest.raises(
        ModelError, match=r"'gone-net', offered by the installed package offered-nets, has no file: no module"
    ):
        registry.revision("gone-net")


def test_a_file_that_an_own_model_imports_is_in_the_key(tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text("WIDTH = 2\n")
    (tmp_path / "my_net.py").write_text(NET.replace("from .layers", "from blocks"))
    name = registry.register_file(f"{tmp_path}/my_net.py:Net")
    before = registry.revision(name)
    (tmp_path / "blocks.py").write_text("WIDTH = 3\n")
    assert registry.revision(name) != before
