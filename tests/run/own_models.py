"""Models that misbehave on purpose, as a user's own model files might."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import threadpoolctl
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


class Warns(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        warnings.warn("a library's opinion", RuntimeWarning, stacklevel=2)


class OneLogitTooMany(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes + 1)


class Raises(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        class Unpicklable(Exception):  # noqa: N818
            def __init__(self, first: int, second: int) -> None:
                super().__init__(f"mistake {first + second}")
                self.handle = open(os.devnull)  # noqa: SIM115, PTH123

        raise Unpicklable(40, 2)


class Diverges(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        with torch.no_grad():
            self.head.weight.fill_(float("nan"))


class OutOfMemory(_Small):
    """Lacks memory for more than ``largest_batch`` windows, after ``steps_alive`` steps."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        largest_batch: int = 99,
        steps_alive: int = 0,
    ) -> None:
        super().__init__(n_channels, n_classes)
        self.largest_batch, self.steps_alive, self.steps = largest_batch, steps_alive, 0
        self.drop = nn.Dropout(0.3)

    def features(self, x: Tensor) -> Tensor:
        return self.drop(x.mean(1))

    def forward(self, x: Tensor) -> Tensor:
        self.steps += self.training
        if self.training and len(x) > self.largest_batch and self.steps > self.steps_alive:
            raise MemoryError("no room")
        return super().forward(x)


class Allocates(_Small):
    """Really asks for ``gib_per_window`` of memory for each window of a training step."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, gib_per_window: float = 0.0) -> None:
        super().__init__(n_channels, n_classes)
        self.floats_per_window = int(gib_per_window * 2**28)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            # Asked for, not touched: it costs the machine nothing.
            torch.empty(len(x) * self.floats_per_window)
        return super().forward(x)


class Segfaults(_Small):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_classes)

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


def fork_a_sleeper() -> int:
    """Leave a process behind that would outlive every test; return its number."""
    number = os.fork()
    if number == 0:
        time.sleep(3600)
        os._exit(0)
    return number


class Sleeps(_Small):
    """After ``steps_awake`` steps sleeps in each until there is the file ``morning``, as does a process it forked."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        morning: str = "",
        sleep_s: float = 3600.0,
        steps_awake: int = 0,
    ) -> None:
        super().__init__(n_channels, n_classes)
        self.morning, self.sleep_s, self.steps_awake = Path(morning), sleep_s, steps_awake
        self.steps, self.sleeper = 0, 0

    def misbehave(self) -> None:
        self.steps += 1
        if self.steps <= self.steps_awake:
            return
        if not self.sleeper:
            self.sleeper = fork_a_sleeper()
            print("asleep", flush=True)
        late = time.monotonic() + self.sleep_s
        while not self.morning.is_file() and time.monotonic() < late:
            time.sleep(0.05)


class KillsItself(_Small):
    """Dies by SIGKILL after ``steps_alive`` steps in its first ``deaths`` lives, counted by files in ``graves``."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        graves: str = "",
        deaths: int = 0,
        steps_alive: int = 0,
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


class _Haunted(_Small):
    """Suffers something in its first ``deaths`` lives, counted by files in ``graves``."""

    def __init__(self, n_channels: int, n_classes: int, graves: str, deaths: int) -> None:
        super().__init__(n_channels, n_classes)
        self.graves, self.deaths = Path(graves), deaths
        if len(list(self.graves.iterdir())) < deaths:
            self.suffer()

    def suffer(self) -> None:
        """Do what the test is about."""

    def bury(self) -> None:
        (self.graves / f"{os.getpid()}-{time.monotonic_ns()}").touch()


class DiesWriting(_Haunted):
    """Dies by SIGKILL when the file named ``victim`` is half written."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        graves: str = "",
        deaths: int = 0,
        victim: str = "",
    ) -> None:
        self.victim = victim
        super().__init__(n_channels, n_classes, graves, deaths)

    def suffer(self) -> None:
        def half_then_die(descriptor: int) -> None:
            name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115, PTH119
            if name.startswith(f".{self.victim}."):
                self.bury()
                os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = half_then_die


class DiskFull(_Haunted):
    """Its process may write files of at most ``n_bytes``; the system then refuses as a full disk does."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        graves: str = "",
        deaths: int = 0,
        n_bytes: int = 0,
    ) -> None:
        self.n_bytes = n_bytes
        super().__init__(n_channels, n_classes, graves, deaths)

    def suffer(self) -> None:
        self.bury()
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (self.n_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        )


class SystemRefuses(_Haunted):
    """The system refuses something with the error number ``code``."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        graves: str = "",
        deaths: int = 0,
        code: str = "EIO",
    ) -> None:
        self.code = code
        super().__init__(n_channels, n_classes, graves, deaths)

    def suffer(self) -> None:
        self.bury()
        raise OSError(getattr(errno, self.code), "the system refuses")


class Forks(_Haunted):
    """Leaves a process behind, its number in ``graves``, and ends its own life as ``ending`` says."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        graves: str = "",
        ending: str = "",
    ) -> None:
        self.ending = ending
        super().__init__(n_channels, n_classes, graves, deaths=1)

    def suffer(self) -> None:
        (self.graves / str(fork_a_sleeper())).touch()
        if self.ending == "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.ending == "os._exit":
            os._exit(0)
        elif self.ending == "sys.exit":
            sys.exit("left")


class Crowds(_Haunted):
    """Starts processes in sessions of their own, their numbers in ``graves``, and waits."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "") -> None:
        super().__init__(n_channels, n_classes, graves, deaths=1000)

    def suffer(self) -> None:
        for _ in range(6):
            command = [sys.executable, "-c", "import time; time.sleep(600)"]
            (self.graves / str(subprocess.Popen(command, start_new_session=True).pid)).touch()
        time.sleep(600)


class SeesGpus(_Haunted):
    """Writes down which GPUs it sees."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "") -> None:
        super().__init__(n_channels, n_classes, graves, deaths=1000)

    def suffer(self) -> None:
        (self.graves / os.environ.get("CUDA_VISIBLE_DEVICES", "unset")).touch()


class SeesDeterminism(_Haunted):
    """Writes down whether torch refuses algorithms that are not deterministic."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "") -> None:
        super().__init__(n_channels, n_classes, graves, deaths=1000)

    def suffer(self) -> None:
        (self.graves / str(torch.are_deterministic_algorithms_enabled())).touch()


class SeesThreads(_Haunted):
    """Writes down with how many threads the libraries of this process compute, the most of any."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "") -> None:
        super().__init__(n_channels, n_classes, graves, deaths=1000)

    def suffer(self) -> None:
        pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
        (self.graves / str(max(*pools, torch.get_num_threads()))).touch()


class Overtaken(_Haunted):
    """While it trains, another process finishes its cell: whose files are in the folder that ``graves`` links to."""

    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, graves: str = "") -> None:
        super().__init__(n_channels, n_classes, graves, deaths=1000)

    def suffer(self) -> None:
        log = Path(os.readlink("/proc/self/fd/1"))  # noqa: PTH115
        other = self.graves / "other"
        if other.exists():
            for name in ("predictions.npz", "weights.safetensors", "record.json"):
                shutil.copyfile(other / name, log.with_name(name))
