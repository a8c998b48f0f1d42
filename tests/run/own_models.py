"""Models that misbehave on purpose, as a user's own model files might."""

import os
import signal
import time
from pathlib import Path

import torch
from torch import Tensor, nn


class _Small(nn.Module):
    def __init__(self, n_channels: int, n_classes: int) -> None:
        super().__init__()
        self.head = nn.Linear(n_channels, n_classes)

    def features(self, x: Tensor) -> Tensor:
        return x.mean(1)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.misbehave()
        return self.head(self.features(x))

    def misbehave(self) -> None:
        """Do what the test is about."""


class Good(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)


class Raises(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        class Unpicklable(Exception):
            def __init__(self, one: int, two: int) -> None:
                super().__init__(f"mistake {one + two}")
                self.handle = open(os.devnull)  # noqa: SIM115, PTH123

        raise Unpicklable(40, 2)


class Diverges(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        with torch.no_grad():
            self.head.weight.fill_(float("nan"))


class OutOfMemory(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, largest_batch: int = 0) -> None:
        super().__init__(n_channels, n_classes)
        self.largest_batch = largest_batch

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) > self.largest_batch:
            raise MemoryError("no room")
        return super().forward(x)


class Sleeps(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, sleep_s: float = 60.0) -> None:
        super().__init__(n_channels, n_classes)
        self.sleep_s = sleep_s

    def misbehave(self) -> None:
        time.sleep(self.sleep_s)


class KillsItself(_Small):
    """Dies by SIGKILL after ``steps_alive`` steps in its first ``deaths`` lives, counted by files in ``graves``."""

    def __init__(
        self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "", deaths: int = 0, steps_alive: int = 0
    ) -> None:
        super().__init__(n_channels, n_classes)
        self.graves, self.deaths, self.steps_alive = Path(graves), deaths, steps_alive
        self.drop = nn.Dropout(0.3)
        self.steps = 0

    def features(self, x: Tensor) -> Tensor:
        return self.drop(x.mean(1))

    def misbehave(self) -> None:
        self.steps += 1
        if self.steps > self.steps_alive and len(list(self.graves.iterdir())) < self.deaths:
            (self.graves / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
