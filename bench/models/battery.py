"""What every model has to do, registered or a user's own: one ``check_*`` function per promise.

A check takes a factory, called with ``n_channels``, ``n_times`` and ``n_classes``, and raises `BrokenPromise` when the
model breaks the promise. A model that cannot keep one says so beside its class, with the reason:
``BATTERY_EXCEPTIONS = {"check_odd_length": "needs an even number of steps"}``; it then has to refuse, with an error of
this package, instead of breaking it.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from bench.models.promises import DATASET_SHAPES, SMALL, Outcome, Shape, global_states, require, run_checks


class Factory(Protocol):
    """Builds a fresh model of a task's shape."""

    def __call__(self, *, n_channels: int, n_times: int, n_classes: int) -> nn.Module:
        """Return the model."""
        ...


def run_battery(make: Factory, exceptions: Mapping[str, str]) -> Iterator[Outcome]:
    """Run all checks of a network; see `run_checks`."""
    return run_checks(CHECKS, make, exceptions)


def check_logits(make: Factory) -> None:
    """Logits are ``(batch, n_classes)``, float32 and finite."""
    _check_shape(make, SMALL)


def check_dataset_shapes(make: Factory) -> None:
    """The same at the shapes of all six datasets, in evaluation."""
    for name, shape in DATASET_SHAPES.items():
        _require_logits(_evaluate(_build(make, shape), _windows(shape)), shape, f"at the shape of {name}")


def check_odd_length(make: Factory) -> None:
    """Windows may have an odd number of steps."""
    _check_shape(make, replace(SMALL, n_times=61))


def check_short_windows(make: Factory) -> None:
    """Windows may be short: one patch of MedMamba's longest stride."""
    _check_shape(make, replace(SMALL, n_times=26))


def check_one_channel(make: Factory) -> None:
    """Windows may have a single channel."""
    _check_shape(make, replace(SMALL, n_channels=1))


def check_two_classes(make: Factory) -> None:
    """There are two logits for two classes."""
    _check_shape(make, replace(SMALL, n_classes=2))


def check_one_window(make: Factory) -> None:
    """A batch may hold a single window in evaluation."""
    logits = _evaluate(_build(make), _windows(SMALL, 1))
    require(logits.shape == (1, 3), f"one window gives logits {tuple(logits.shape)}, expected (1, 3)")


def check_features(make: Factory) -> None:
    """``features(x)`` is ``(batch, width)``, the very numbers that the last linear map reads."""
    model: Any = _build(make).eval()
    require(callable(getattr(model, "features", None)), "there is no method features(x)")
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]
    require(bool(linear), "there is no nn.Linear as classifier")
    read: list[Tensor] = []
    linear[-1].register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    _evaluate(model, _windows(SMALL))
    _reseed(model)
    with torch.inference_mode():
        features = model.features(_windows(SMALL))
    shape, expected = tuple(features.shape), (2, linear[-1].in_features)
    require(shape == expected, f"features(x) has shape {shape}, expected {expected}")
    same = bool(read) and torch.equal(features, read[0])
    require(same, "features(x) is not what the last nn.Linear reads when the model classifies")


def check_double_precision(make: Factory) -> None:
    """After ``.double()`` float64 windows give float64 logits, close to the float32 ones."""
    model = _build(make)
    single = _evaluate(model, _windows(SMALL))
    double = _evaluate(model.double(), _windows(SMALL).double())
    require(double.dtype == torch.float64, f"float64 windows give {double.dtype} logits")
    _require_close(double, single.double(), 1e-3, "float64 and float32 logits")


def check_gradients(make: Factory) -> None:
    """In training a finite gradient reaches every parameter."""
    model = _build(make).train()
    _forward(model, _windows(SMALL, 4)).square().sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            require(parameter.grad is not None, f"no gradient reaches '{name}'; leave unused parameters out")
            finite = bool(torch.isfinite(parameter.grad).all()) if parameter.grad is not None else False
            require(finite, f"the gradient of '{name}' is not finite")


def check_bfloat16_training(make: Factory) -> None:
    """Under bfloat16 autocast logits and gradients are finite."""
    model = _build(make).train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = _forward(model, _windows(SMALL, 4))
    logits.float().square().sum().backward()
    require(bool(torch.isfinite(logits).all()), "logits are not finite under bfloat16 autocast")
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            finite = bool(torch.isfinite(parameter.grad).all())
            require(finite, f"the gradient of '{name}' is not finite under bfloat16 autocast")


def check_windows_are_independent(make: Factory) -> None:
    """In evaluation the logits of a window do not depend on the others in its batch."""
    model = _build(make).double()
    windows = _windows(SMALL, 4).double()
    together = _evaluate(model, windows)
    alone = torch.cat([_evaluate(model, window) for window in windows.split(1)])
    _require_close(together, alone, 1e-6, "logits of windows together and alone")


def check_same_seed_same_weights(make: Factory) -> None:
    """Two models built with the same seed have the same weights."""
    first, second = _build(make).state_dict(), _build(make).state_dict()
    for name, tensor in first.items():
        require(torch.equal(tensor, second[name]), f"'{name}' differs between two models of one seed")


def check_repeatable_training(make: Factory) -> None:
    """In training the same seeds give the same logits."""
    model = _build(make).train()
    windows = _windows(SMALL, 4)
    state = copy.deepcopy(model.state_dict())
    first = _forward(model, windows)
    model.load_state_dict(state)
    require(torch.equal(first, _forward(model, windows)), "training logits differ with the same seeds")


def check_repeatable_evaluation(make: Factory) -> None:
    """In evaluation the logits repeat once the generator ``draws``, where there is one, is reseeded."""
    model = _build(make)
    first, second = (_evaluate(model, _windows(SMALL)) for _ in range(2))
    require(torch.equal(first, second), "evaluation logits differ; random draws have to come from self.draws")


def check_evaluation_leaves_global_randomness(make: Factory) -> None:
    """Evaluation touches no global random state: torch's, NumPy's or Python's."""
    model = _build(make)
    before = global_states()
    _evaluate(model, _windows(SMALL))
    for name, state in global_states().items():
        require(state == before[name], f"evaluation draws from the global generator of {name}")


def check_state_dict_round_trip(make: Factory) -> None:
    """A model given another's state dict puts out the same logits."""
    model = _build(make)
    other = _build(make, seed=1)
    other.load_state_dict(copy.deepcopy(model.state_dict()))
    windows = _windows(SMALL)
    same = torch.equal(_evaluate(model, windows), _evaluate(other, windows))
    require(same, "logits differ after loading the state dict; is a tensor or a drawn choice left out of it?")


def check_deepcopy(make: Factory) -> None:
    """A deep copy puts out the same logits and shares no tensor and no generator."""
    model = _build(make)
    copied = copy.deepcopy(model)
    windows = _windows(SMALL)
    require(torch.equal(_evaluate(model, windows), _evaluate(copied, windows)), "a copy's logits differ")
    shared = (_addresses(model) & _addresses(copied)) - {0}  # tensors without elements have no address
    require(not shared, f"{len(shared)} parameters or buffers are shared with a copy")
    draws = getattr(model, "draws", None)
    require(draws is None or copied.draws is not draws, "the generator draws is shared with a copy")


def check_input_is_kept(make: Factory) -> None:
    """The windows are not changed in place, in training or evaluation."""
    model = _build(make)
    windows = _windows(SMALL)
    kept = windows.clone()
    _evaluate(model, windows)
    _forward(model.train(), windows)
    require(torch.equal(windows, kept), "the forward pass changes its input in place")


CHECKS: tuple[Callable[[Factory], None], ...] = (
    check_logits,
    check_dataset_shapes,
    check_odd_length,
    check_short_windows,
    check_one_channel,
    check_two_classes,
    check_one_window,
    check_features,
    check_double_precision,
    check_gradients,
    check_bfloat16_training,
    check_windows_are_independent,
    check_same_seed_same_weights,
    check_repeatable_training,
    check_repeatable_evaluation,
    check_evaluation_leaves_global_randomness,
    check_state_dict_round_trip,
    check_deepcopy,
    check_input_is_kept,
)


def _check_shape(make: Factory, shape: Shape) -> None:
    model = _build(make, shape)
    windows = _windows(shape, 4)
    _require_logits(_evaluate(model, windows), shape, "in evaluation")
    _require_logits(_forward(model.train(), windows), shape, "in training")


def _build(make: Factory, shape: Shape = SMALL, *, seed: int = 0) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(n_channels=shape.n_channels, n_times=shape.n_times, n_classes=shape.n_classes)


def _windows(shape: Shape, batch: int = 2) -> Tensor:
    return torch.randn(batch, shape.n_times, shape.n_channels, generator=torch.Generator().manual_seed(batch))


def _addresses(model: nn.Module) -> set[int]:
    return {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())}


def _reseed(model: nn.Module) -> None:
    draws = getattr(model, "draws", None)
    if isinstance(draws, torch.Generator):
        draws.manual_seed(0)


def _evaluate(model: nn.Module, windows: Tensor) -> Tensor:
    _reseed(model)
    with torch.inference_mode():
        return model.eval()(windows)


def _forward(model: nn.Module, windows: Tensor) -> Tensor:
    """Run with the model's own and torch's global generator seeded, the latter put back afterwards."""
    _reseed(model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return model(windows)


def _require_logits(logits: Tensor, shape: Shape, where: str) -> None:
    classes = logits.shape[1:]
    require(
        classes == (shape.n_classes,), f"logits are {tuple(logits.shape)} {where}, expected {shape.n_classes}"
    )
    require(logits.dtype == torch.float32, f"float32 windows give {logits.dtype} logits {where}")
    require(bool(torch.isfinite(logits).all()), f"logits are not finite {where}")


def _require_close(actual: Tensor, expected: Tensor, tolerance: float, what: str) -> None:
    difference = (actual - expected).abs().max().item()
    peak = expected.abs().max().item()
    require(difference <= tolerance * peak, f"{what} differ by {difference:.2e} at a peak of {peak:.2e}")
