"""Golden fixtures: runs of the published code with weights and gradients, and how our models are held to them.

The format is described in ``tests/golden/manifest.json``. A test builds our model from a fixture's configuration,
loads the published weights, and compares logits, input gradient and inner activations in float32 and in float64.
"""

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import bench.models

FOLDER = Path(__file__).parent.parent / "golden"

# Largest difference, relative to the peak of the expected array.
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-9}
DTYPES = [pytest.param(dtype, id=str(dtype).removeprefix("torch.")) for dtype in TOLERANCE]

# A published setting -> our override; None: not a setting of ours.
SETTINGS: dict[str, str | None] = {
    "enc_in": "n_channels",
    "input_dim": "n_channels",
    "seq_len": "n_times",
    "num_class": "n_classes",
    "num_classes": "n_classes",
    "e_layers": "n_layers",
    "patch_len_list": "patch_lengths",
    "patch_strides": "strides",
    "use_channel_mix": "channel_mixing",
    "channel_drop": "channel_dropout",
    "drop_path_rate": "drop_path",
    "merge_mode": "merge",
    "p_hidden_dims": "projector_sizes",
    "p_hidden_layers": None,
}

# Models whose registered name is not the published class's name in lower case.
NAMES = {"Nonstationary_Transformer": "nonformer"}

# A published module (regular expression) -> ours; None: ours has no such module.
MODULES: dict[str, str | None] = {
    r"enc_embedding": "embedding",
    r"encoder": "encoder",
    r"encoder\.attn_layers\.(\d+)": r"encoder.layers.\1",
}


@dataclass(frozen=True)
class Fixture:
    """One recorded run of the published code: its entry in the manifest and its arrays."""

    name: str
    manifest: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    def tensor(self, key: str, dtype: torch.dtype) -> Tensor:
        """Return an array as a tensor of the given type."""
        return torch.from_numpy(np.array(self.arrays[key])).to(dtype)

    def starting_with(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the arrays under a prefix, by the rest of their key."""
        return {key.removeprefix(prefix): a for key, a in self.arrays.items() if key.startswith(prefix)}

    @property
    def weights(self) -> dict[str, Tensor]:
        """The published state dict."""
        return {name: torch.from_numpy(np.array(a)) for name, a in self.starting_with("param/").items()}


@cache
def _manifest() -> dict[str, Any]:
    return json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["fixtures"]


@cache
def load_fixture(name: str) -> Fixture:
    """Return a fixture by its name in the manifest."""
    entry = _manifest()[name]
    with np.load(FOLDER / entry["file"], allow_pickle=False) as stored:
        return Fixture(name, entry, {key: stored[key] for key in stored.files})


def settings_of(fixture: Fixture) -> dict[str, Any]:
    """Return the fixture's configuration in our spelling, lists of numbers parsed."""
    published = {**fixture.manifest["config"], **(fixture.manifest["constructor_extra"] or {})}
    settings: dict[str, Any] = {}
    for key, value in published.items():
        ours = SETTINGS.get(key, key)
        if ours is not None:
            settings[ours] = _parsed(ours, value)
    return settings


def _parsed(ours: str, value: Any) -> Any:
    """Return a published value; lists are comma-separated text in two settings."""
    if ours == "patch_lengths":
        return [int(part) for part in value.split(",")]
    return value.split(",") if ours == "augmentations" else value


def build_from(fixture: Fixture, name: str | None = None, **overrides: Any) -> nn.Module:
    """Build our model with the fixture's configuration and the published weights, in float32 and eval mode."""
    published: str = fixture.manifest["model"]
    registered = name or NAMES.get(published, published.lower())
    model = bench.models.build(registered, **{**settings_of(fixture), **overrides})
    bench.models.load_reference_weights(model, fixture.weights)
    return model.eval()


def assert_close(actual: Tensor, expected: Tensor, tolerance: float, what: str) -> None:
    """Fail when the largest difference exceeds ``tolerance`` times the peak of what is expected."""
    assert actual.shape == expected.shape, f"{what}: {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    difference = (actual.detach().double() - expected.double()).abs().max().item()
    peak = expected.double().abs().max().item()
    message = f"{what} differs by {difference:.3e}, peak {peak:.3e}, allowed {tolerance:g} of the peak"
    assert difference <= tolerance * peak, message


def assert_matches(
    model: nn.Module, fixture: Fixture, dtype: torch.dtype, modules: Mapping[str, str | None] = MODULES
) -> None:
    """Compare logits, input gradient and inner activations in eval mode with the recorded ones.

    ``modules`` tells which of our modules a recorded activation belongs to; one that no pattern knows is a failure.
    """
    model = model.to(dtype).eval()
    seen: dict[str, Tensor] = {}
    hooks = [_record(model, published, modules, seen) for published in fixture.starting_with("act/")]
    _assert_run_matches(model, fixture, dtype, "")
    for hook in itertools.chain.from_iterable(hooks):
        hook.remove()
    for published, actual in seen.items():
        # Recorded in float32 only.
        expected = fixture.tensor(f"act/{published}", torch.float64)
        assert_close(actual, expected, TOLERANCE[torch.float32], f"{fixture.name}: output of {published}")


def assert_matches_in_training(model: nn.Module, fixture: Fixture, dtype: torch.dtype) -> None:
    """Compare logits and input gradient in training mode (drop rates are zero) with the recorded ones."""
    _assert_run_matches(model.to(dtype).train(), fixture, dtype, "_train")


def replay_draws(monkeypatch: pytest.MonkeyPatch, fixture: Fixture) -> None:
    """Make ``torch.randint`` or ``torch.randn`` return the recorded draws, in layer order, again and again."""
    recorded = fixture.starting_with("aux/draw_")
    draws = itertools.cycle([torch.from_numpy(np.array(recorded[str(i)])) for i in range(len(recorded))])
    monkeypatch.setattr(torch, fixture.manifest["recorded_draws"], _replay(draws))


def _replay(draws: "itertools.cycle[Tensor]") -> Callable[..., Tensor]:
    def draw(*args: Any, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
        given = next(draws)
        sizes = args if all(isinstance(one, int) for one in args) else args[-1]
        return given.reshape(tuple(sizes)).to(dtype or given.dtype)

    return draw


def _assert_run_matches(model: nn.Module, fixture: Fixture, dtype: torch.dtype, mode: str) -> None:
    suffix = mode + ("_f64" if dtype == torch.float64 else "")
    x = fixture.tensor("x", dtype).requires_grad_()
    logits = model(x)
    (gradient,) = torch.autograd.grad(logits.square().sum(), x)
    for what, actual in (("logits", logits), ("grad_x", gradient)):
        assert actual.dtype == dtype, f"{what} is {actual.dtype}, expected {dtype}"
        expected = fixture.tensor(what + suffix, dtype)
        assert_close(actual, expected, TOLERANCE[dtype], f"{fixture.name}: {what}{suffix}")


def _record(
    model: nn.Module, published: str, modules: Mapping[str, str | None], seen: dict[str, Tensor]
) -> list[torch.utils.hooks.RemovableHandle]:
    name, _, index = published.removesuffix("]").partition("[")
    pattern = next((one for one in modules if re.fullmatch(one, name)), None)
    assert pattern is not None, f"no module of ours is named for the recorded output '{published}'"
    ours = modules[pattern]
    if ours is None:
        return []

    def keep(_module: nn.Module, _inputs: Any, output: Any) -> None:
        seen[published] = output[int(index)] if index else output

    return [model.get_submodule(re.sub(pattern, ours, name)).register_forward_hook(keep)]
