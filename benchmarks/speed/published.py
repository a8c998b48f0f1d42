"""The published models as contenders: built from a checkout of DL4mHealth/Medformer (446275f) with our settings."""

import importlib
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from torch import Tensor, nn

# Our names -> modules of the published ``models`` package; the later Medformer is another commit's.
MODULES = {
    "autoformer": "Autoformer",
    "crossformer": "Crossformer",
    "fedformer": "FEDformer",
    "informer": "Informer",
    "itransformer": "iTransformer",
    "medformer": "Medformer",
    "mtst": "MTST",
    "nonformer": "Nonstationary_Transformer",
    "patchtst": "PatchTST",
    "reformer": "Reformer",
    "transformer": "Transformer",
}

# Defaults of the published program for what its constructors read and ours fix.
FIXED: dict[str, Any] = {
    "task_name": "classification",
    "is_training": 1,
    "label_len": 48,
    "pred_len": 0,
    "dec_in": 7,
    "c_out": 7,
    "embed": "timeF",
    "freq": "h",
    "activation": "gelu",
    "output_attention": False,
    "distil": True,
    "d_layers": 1,
    "top_k": 5,
    "factor": 1,
    "moving_avg": 25,
    "channel_independence": 0,
    "no_freq": False,
    "no_inter_attn": False,
    "single_channel": False,
    "p_hidden_dims": [128, 128],
    "p_hidden_layers": 2,
    "version": "fourier",
    "modes": 64,
    "mode_select": "random",
}


def published_model(
    folder: Path, name: str, settings: Mapping[str, Any], shape: Mapping[str, int]
) -> nn.Module:
    """Build a published model as a map from ``(batch, n_times, n_channels)`` to logits.

    Raises
    ------
    FileNotFoundError
        The folder is no checkout of the published repository.
    """
    if not (folder / "models" / f"{MODULES[name]}.py").is_file():
        raise FileNotFoundError(
            f"{folder} has no models/{MODULES[name]}.py; give a checkout of DL4mHealth/Medformer"
        )
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    # Our checkout has a folder of that name, too, which Python would prefer to one without an __init__.py.
    package = ModuleType("models")
    package.__path__ = [str(folder / "models")]
    sys.modules["models"] = package
    # FEDformer prints which frequencies it drew; the table has stdout to itself.
    with redirect_stdout(sys.stderr):
        module = importlib.import_module(f"models.{MODULES[name]}")
        return _Logits(module.Model(SimpleNamespace(**_arguments(settings, shape))))


def _arguments(settings: Mapping[str, Any], shape: Mapping[str, int]) -> dict[str, Any]:
    """Return what the published program would hand to a constructor."""
    lengths = ",".join(map(str, settings.get("patch_lengths", (2, 4, 8))))
    return {
        **FIXED,
        "seq_len": shape["n_times"],
        "enc_in": shape["n_channels"],
        "num_class": shape["n_classes"],
        "e_layers": settings.get("n_layers", 6),
        "patch_len_list": lengths,
        "augmentations": ",".join(settings.get("augmentations", ("none",))),
        **{name: value for name, value in settings.items() if name not in ("patch_lengths", "augmentations")},
    }


class _Logits(nn.Module):
    """A published model called with the series alone; it wants a mask of valid steps, too."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x, x.new_ones(x.shape[:2]), None, None)
