"""A network of braindecode with this package's constructor, on windows in this package's layout."""

import importlib
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from bench.errors import ModelError

REVISION = 1

# What torch and braindecode raise where the layers of a network do not fit a window.
_MISFITS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Adapted(nn.Module):
    """A network of braindecode for windows ``(batch, n_times, n_channels)``; its logits are ``(batch, n_classes)``.

    Weights are drawn, never fetched. What the network warns of while it is built, such as layers that it shrinks for a
    short window, is warned of in one line and kept in ``remarks``.

    Parameters
    ----------
    class_name
        A class of ``braindecode.models``.
    n_channels, n_times, n_classes
        Shape of the task.
    **hyperparameters
        Parameters of the class.

    Raises
    ------
    ModelError
        braindecode cannot be imported, or the network does not fit the shape.
    """

    def __init__(
        self, class_name: str, *, n_channels: int, n_times: int, n_classes: int, **hyperparameters: Any
    ) -> None:
        super().__init__()
        make = getattr(_models(), class_name)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.network: nn.Module = make(
                    n_chans=n_channels, n_outputs=n_classes, n_times=n_times, **hyperparameters
                )
                logits = self._tried(torch.zeros(2, n_times, n_channels))
        except _MISFITS as error:
            raise ModelError(
                f"braindecode:{class_name} does not fit windows of n_channels {n_channels}, n_times {n_times}: "
                f"{_one_line(error)}; choose another network, or change this one by --set, see 'bench list settings "
                f"--model braindecode:{class_name}'"
            ) from error
        if logits.shape != (2, n_classes):
            raise ModelError(
                f"braindecode:{class_name}: two windows give an output of shape {tuple(logits.shape)}, expected logits "
                f"{(2, n_classes)}; choose another network, or put back what was changed by --set"
            )
        # Warnings of other categories are for who calls the constructor.
        own = [_one_line(warning.message) for warning in caught if warning.category is UserWarning]
        self.remarks = tuple(dict.fromkeys(own))
        for remark in self.remarks:
            warnings.warn(f"braindecode:{class_name}: {remark}", stacklevel=2)

    def forward(self, windows: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        # (batch, n_channels, n_times)
        return self.network(windows.transpose(1, 2).contiguous())

    def features(self, windows: Tensor) -> Tensor:
        """Return what the last linear map or convolution reads, flattened to ``(batch, width)``."""
        read: dict[str, Tensor] = {}
        kinds = (nn.Linear, nn.Conv1d, nn.Conv2d)
        hooks = [
            module.register_forward_pre_hook(lambda _, inputs: read.update(last=inputs[0]))
            for module in self.network.modules()
            if isinstance(module, kinds)
        ]
        try:
            self(windows)
        finally:
            for hook in hooks:
                hook.remove()
        return read["last"].flatten(1)

    def _tried(self, windows: Tensor) -> Tensor:
        """Return the logits of windows in evaluation; the generators that training draws from are left alone."""
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            logits = self.eval()(windows)
        self.train()
        return logits


def _models() -> Any:
    try:
        # What the import warns of is other networks' or other packages'.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("braindecode.models")
    except (ImportError, OSError) as error:
        raise ModelError(
            f"braindecode cannot be imported ({_one_line(error)}); install medmamba-bench with the extra "
            "'braindecode', and a torchaudio of the same build, for CPU or CUDA, as torch"
        ) from error


def _one_line(problem: object) -> str:
    """Return a third party's message on one line."""
    return " ".join(str(problem).split()) or type(problem).__name__
