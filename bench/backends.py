"""The choice between implementations of one thing, by setting, environment variable and machine. Free of torch."""

import importlib
import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bench.errors import ModelError, unknown_name

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)


class Backends:
    """The backends of one thing, in modules that are imported when they are used.

    A module whose backend does not run everywhere has ``obstacle(kind)``: why it cannot run on a kind of device
    (``cpu``, ``cuda``), or None when it can.

    Parameters
    ----------
    what
        The thing's name: of the setting, and in capitals of the environment variable ``BENCH_<WHAT>``.
    modules
        The module of each backend, by name. ``torch`` is there and runs everywhere.
    everywhere
        Backends without any obstacle.
    preferred
        What ``auto`` tries on a kind of device, the fastest first; then ``torch``.
    self_test
        Takes a backend's module and a kind of device; returns what is wrong with its results there, or None.
    """

    def __init__(
        self,
        what: str,
        modules: Mapping[str, str],
        *,
        everywhere: tuple[str, ...],
        preferred: Mapping[str, tuple[str, ...]],
        self_test: Callable[[Any, str], str | None] = lambda _module, _kind: None,
    ) -> None:
        self.what, self.modules = what, dict(modules)
        self.everywhere, self.preferred, self.self_test = everywhere, dict(preferred), self_test
        self.variable = f"BENCH_{what.upper()}"
        self.names = tuple(modules)
        self._obstacles: dict[tuple[str, str], str | None] = {}
        self._fastest: dict[str, str] = {}

    def module(self, name: str) -> Any:
        """Import and return the module of a backend."""
        return importlib.import_module(self.modules[name])

    def available(self, device: "torch.device | str" = "cpu") -> list[str]:
        """Return the names of the backends that can run on a device of this machine, in the order of the table."""
        return [name for name in self.names if self.obstacle(name, _kind(device)) is None]

    def choose(self, name: str, device: "torch.device | str") -> str:
        """Return the backend that a setting stands for on a device.

        ``auto`` stands for the environment variable where it is set, else for the fastest available one.

        Raises
        ------
        UsageError
            The name, or the environment variable's value, is unknown.
        ModelError
            The backend asked for cannot run here; the message says why.
        """
        wanted = os.environ.get(self.variable) or "auto" if name == "auto" else name
        if wanted == "auto":
            return self._fastest_on(_kind(device))
        self.check_name(wanted)
        obstacle = self.obstacle(wanted, _kind(device))
        if obstacle:
            asked = f"{self.variable}={wanted}" if name == "auto" else f"{self.what}={wanted}"
            raise ModelError(
                f"{asked} cannot run on {_kind(device)}: {obstacle}. "
                f"Use {self.what}=auto or {self.what}=torch"
            )
        return wanted

    def check_name(self, name: str) -> None:
        """Refuse a name that is neither ``auto`` nor a backend's.

        Raises
        ------
        UsageError
            It is not; the message offers the nearest one.
        """
        if name not in ("auto", *self.names):
            raise unknown_name(f"{self.what} backend", name, ("auto", *self.names))

    def obstacle(self, name: str, kind: str) -> str | None:
        """Return why a backend cannot run on a kind of device, or None when it can; found out once."""
        if name in self.everywhere:
            return None
        if (name, kind) not in self._obstacles:
            self._obstacles[name, kind] = self._find_obstacle(name, kind)
        return self._obstacles[name, kind]

    def obstacles(self, device: "torch.device | str" = "cpu") -> dict[str, str]:
        """Return why backends cannot run on a device of this machine, by the names of those that cannot."""
        found = {name: self.obstacle(name, _kind(device)) for name in self.names}
        return {name: obstacle for name, obstacle in found.items() if obstacle is not None}

    def preferred_on(self, device: "torch.device | str") -> tuple[str, ...]:
        """Return the names that ``auto`` tries on a device; the first that can run there is taken."""
        return (*self.preferred.get(_kind(device), ()), "torch")

    def _find_obstacle(self, name: str, kind: str) -> str | None:
        module = self.module(name)
        if (obstacle := module.obstacle(kind)) is not None:
            return obstacle
        failure = self.self_test(module, kind)
        if failure is None:
            return None
        log.warning("%s: %s fails its self-test on %s (%s); it is not used", self.what, name, kind, failure)
        return f"it fails its self-test: {failure}"

    def forget(self) -> None:
        """Find out anew what can run here."""
        self._obstacles.clear()
        self._fastest.clear()

    def _fastest_on(self, kind: str) -> str:
        if kind not in self._fastest:
            self._fastest[kind] = self._find_fastest(kind)
        return self._fastest[kind]

    def _find_fastest(self, kind: str) -> str:
        stopped: list[str] = []
        for name in self.preferred.get(kind, ()):
            obstacle = self.obstacle(name, kind)
            if obstacle is None:
                return name
            stopped.append(f"{name} is not available on {kind} ({obstacle})")
        if stopped:
            log.warning("%s: %s; using the slower torch backend", self.what, "; ".join(stopped))
        return "torch"


def _kind(device: "torch.device | str") -> str:
    return str(device).partition(":")[0]
