"""A server on loopback for a test, and downloads that do not really wait between attempts."""

from collections.abc import Iterator
from types import SimpleNamespace

import pooch.core
import pytest

from tests.datasets.loopback_server import Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as site:
        yield site


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that pooch would have waited."""
    waits: list[float] = []
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=waits.append))
    return waits
