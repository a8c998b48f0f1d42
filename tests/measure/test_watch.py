"""What is said of the machine: other programs' load, never our own, and a GPU's clock."""

import subprocess
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bench.measure import watch
from bench.measure.watch import Watch, usage


class Machine:
    """Cores that are busy with our work and with others', and a clock."""

    def __init__(self) -> None:
        self.now_s = self.ours_s = self.others_s = 0.0

    def run(self, seconds: float, *, ours: float = 0.0, others: float = 0.0) -> None:
        self.now_s += seconds
        self.ours_s += ours * seconds
        self.others_s += others * seconds

    def watch(self, device: str = "cpu") -> Watch:
        return Watch(device, usage=lambda: (self.ours_s + self.others_s, self.ours_s), now=lambda: self.now_s)


class FakeNvml:
    """Stands for the module pynvml."""

    NVML_CLOCK_SM = 1

    class NVMLError(Exception):
        pass

    def __init__(self, clocks: list[int]) -> None:
        self.clocks = iter(clocks)
        self.n_inits = 0

    def nvmlInit(self) -> None:
        self.n_inits += 1

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes) -> bytes:
        return uuid

    def nvmlDeviceGetClockInfo(self, handle: bytes, _kind: int) -> int:
        if handle != b"GPU-abc":
            raise self.NVMLError("no such device")
        return next(self.clocks)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(uuid="abc"))
    watch._nvml.cache_clear()
    yield
    watch._nvml.cache_clear()


def watched(nvml: Any, monkeypatch: pytest.MonkeyPatch, n_looks: int) -> tuple[str, ...]:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    watch = Machine().watch("cuda")
    for _ in range(n_looks):
        watch.look()
    return watch.warnings()


def test_load_of_others_during_the_measurement_is_warned_of() -> None:
    there = Machine()
    watch = there.watch()
    for others in (0.0, 0.0, 1.5, 0.0):
        there.run(6.0, ours=2.0, others=others)
        watch.look()
    assert watch.warnings() == (
        "other programs kept up to 1.5 cores busy during the measurement, 0.4 on average",
    )


def test_own_load_is_not_warned_of() -> None:
    there = Machine()
    watch = there.watch()
    for _ in range(4):
        there.run(6.0, ours=16.0, others=0.1)
        watch.look()
    assert watch.warnings() == ()


def test_what_ran_before_is_not_warned_of() -> None:
    there = Machine()
    there.run(600.0, ours=2.0, others=2.0)
    watch = there.watch()
    there.run(6.0, ours=2.0)
    assert watch.warnings() == ()


def test_usage_counts_children_as_ours() -> None:
    busy = "import time\nwhile time.process_time() < 0.4: pass"
    before = usage()
    subprocess.run([sys.executable, "-c", busy], check=True)
    time.sleep(0.05)
    total, ours = (after - then for after, then in zip(usage(), before, strict=True))
    assert ours > 0.2
    assert total > 0.2


@pytest.mark.parametrize(
    ("clocks", "said"),
    [([1400, 1410, 1395], ()), ([1400, 900], ("the GPU's clock moved between 900 and 1400 MHz",))],
)
def test_moving_clock_is_warned_of(
    gpu: None, clocks: list[int], said: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml = FakeNvml(clocks)
    assert watched(nvml, monkeypatch, len(clocks)) == said
    assert nvml.n_inits == 1


def test_clock_that_is_not_observed_is_said(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (said,) = watched(None, monkeypatch, 1)
    assert said == "the GPU's clock was not observed: pip install 'medmamba-bench[gpu-clocks]'"
