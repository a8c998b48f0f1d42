"""Networks of braindecode: described from its source, adapted to our layout, refused where they do not fit."""

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from bench.errors import ModelError, UsageError
from bench.estimators import registry as estimators
from bench.models import registry
from bench.models.braindecode.adapter import Adapted
from bench.models.promises import DATASET_SHAPES
from bench.plan.request import chosen_models
from bench.report.commands import command_of
from bench.results.store import read_all
from bench.settings import preset, resolve
from bench.settings.resolve import CellSettings
from tests.cli.commands import parse

HAS_BRAINDECODE = find_spec("braindecode") is not None

# A network with braindecode's interface: it warns of short windows and refuses an even kernel, as its USleep does.
STUB = """
import warnings

import torch
from torch import nn


class Net(nn.Module):
    def __init__(
        self, n_chans=None, n_outputs=None, n_times=None, n_filters=4, activation: type[nn.Module] = nn.ELU,
        *, kernel_s=9 / 128, drop_prob=0.25, chs_info=None, input_window_seconds=None, sfreq=None, **kwargs
    ):
        super().__init__()
        size = round(kernel_s * (sfreq or 128))
        if size % 2 == 0:
            raise ValueError("kernel must be\\n an odd number")
        if n_times < 100:
            warnings.warn("layers are shrunk")
        warnings.warn("old spelling", DeprecationWarning)
        self.spatial = nn.Conv1d(n_chans, n_filters, size, padding=size // 2)
        self.drop = nn.Dropout(drop_prob)
        self.final_layer = nn.Linear(n_filters, n_outputs)

    def forward(self, x):
        return self.final_layer(self.drop(self.spatial(x)).mean(dim=2))


class Shapeless(nn.Module):
    def __init__(self, n_chans=None, n_outputs=None):
        super().__init__()
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package of braindecode's name and interface, with other networks."""
    folder = tmp_path / "site" / "braindecode" / "models"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("from .net import Net, Shapeless\n")
    (folder / "net.py").write_text(STUB)
    info = tmp_path / "site" / "braindecode-1.8.99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: braindecode\nVersion: 1.8.99\n")
    kept = {name: sys.modules.pop(name) for name in _imported()}
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(registry, "_table", cache(registry._table.__wrapped__))
    yield folder
    for name in _imported():
        del sys.modules[name]
    sys.modules.update(kept)


def _imported() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "braindecode"]


def settings_of(model: str, dataset: str, **assignments: object) -> CellSettings:
    return resolve(
        model, dataset, 41, recipe_name="published", preset=preset("paper"), assignments=assignments
    )


@pytest.mark.usefixtures("stub")
def test_a_class_is_described_by_its_source() -> None:
    assert chosen_models("braindecode:Net,braindecode.models:Net") == ["braindecode.Net"]
    plain = {"n_filters": 4, "drop_prob": 0.25, "sfreq": None}
    assert registry.hyperparameters("braindecode.Net") == plain
    assert registry.revision("braindecode.Net") == "braindecode 1.8.99, adapter 1"
    assert not _imported()


@pytest.mark.usefixtures("stub")
def test_the_rate_is_the_datasets_unless_set_and_the_protocol_is_ours() -> None:
    estimators.register_own("braindecode:Net")
    found = settings_of("braindecode.Net", "ptb-xl")
    assert found.hyperparameters["sfreq"] == 250.0
    assert found.origins["sfreq"] == "the dataset's sampling rate"
    assert found.origins["learning_rate"].startswith("recipe equal (ours: their papers have no protocol")
    assert settings_of("braindecode.Net", "ptb-xl", sfreq=128.0).hyperparameters["sfreq"] == 128.0


@pytest.mark.usefixtures("stub")
def test_windows_are_turned_and_features_are_what_the_last_layer_reads() -> None:
    estimators.register_own("braindecode:Net")
    model = registry.build("braindecode.Net", 3, 128, 2, n_filters=5, sfreq=128.0)
    assert isinstance(model, Adapted)
    assert model.remarks == ()
    assert model.training
    windows = torch.randn(4, 128, 3, generator=torch.Generator().manual_seed(1))
    model.eval()
    assert torch.equal(model(windows), model.network(windows.transpose(1, 2).contiguous()))
    assert torch.equal(model.network.get_submodule("final_layer")(model.features(windows)), model(windows))


@pytest.mark.usefixtures("stub")
def test_what_does_not_fit_is_refused_and_what_shrinks_says_so() -> None:
    estimators.register_own("braindecode:Net")
    misfit = "braindecode:Net does not fit windows of n_channels 3, n_times 128: kernel must be an odd number; choose"
    with pytest.raises(ModelError, match=misfit):
        registry.build("braindecode.Net", 3, 128, 2, sfreq=256.0)
    with pytest.warns(UserWarning, match="braindecode:Net: layers are shrunk"):
        model = registry.build("braindecode.Net", 3, 64, 2)
    assert getattr(model, "remarks", None) == ("layers are shrunk",)


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("braindecode:Nett", UsageError, r"unknown network of braindecode 1.8.99 'Nett'. Did you mean 'Net'"),
        ("braindecode:Shapeless", ModelError, "its constructor takes no n_times; name a class that takes"),
    ],
)
def test_other_classes_are_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        chosen_models(text)


@pytest.mark.skipif(HAS_BRAINDECODE, reason="braindecode is installed")
def test_without_braindecode_its_networks_are_known_and_the_remedy_is_said() -> None:
    named = registry.matching("braindecode")
    assert len(named) == 8
    assert set(named) == set(registry.braindecode_names())
    assert set(named).isdisjoint([*registry.names(), *registry.matching("everything")])
    with pytest.raises(UsageError, match="which is not installed; install medmamba-bench with the extra"):
        registry.revision("braindecode.EEGNet")


@pytest.mark.slow
@pytest.mark.usefixtures("stub")
def test_a_cell_is_trained_recorded_and_told_how_to_repeat(stub: Path, tmp_path: Path) -> None:
    words = [
        "run",
        "--preset",
        "demo",
        "--models",
        "braindecode:Net",
        "--datasets",
        "uci-har",
        "--seeds",
        "41",
    ]
    words += ["--set", "epochs=1", "--set", "sfreq=128", "--no-efficiency", "--out", str(tmp_path / "r")]
    path = f"{stub.parents[1]}:{Path(__file__).parents[3]}"
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (record,) = read_all(tmp_path / "r")[0]
    assert record.cell.model == "braindecode.Net"
    assert record.revisions["model"] == "braindecode 1.8.99, adapter 1"
    assert parse(command_of(record).split()[1:])["models"] == "braindecode:Net"


@pytest.mark.skipif(
    not HAS_BRAINDECODE, reason="braindecode is not installed: an extra, tried with its real networks"
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", registry.braindecode_names())
def test_a_real_network_fits_some_dataset(name: str) -> None:
    fitting = []
    for dataset, shape in DATASET_SHAPES.items():
        sizes = (shape.n_channels, shape.n_times, shape.n_classes)
        try:
            model = registry.build(name, *sizes, **settings_of(name, dataset).hyperparameters)
        except ModelError:
            continue
        logits = model(torch.zeros(2, shape.n_times, shape.n_channels))
        logits.sum().backward()
        assert logits.shape == (2, shape.n_classes)
        fitting.append(dataset)
    assert fitting
