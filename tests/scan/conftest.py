"""Tests of the kernel's own building get an empty cache each; tests of the choice choose anew."""

from pathlib import Path

import pytest

from bench.scan.dispatch import CHOICE


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("BENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def forgotten_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose anew, and leave no choice behind."""
    monkeypatch.delenv(CHOICE.variable, raising=False)
    monkeypatch.setattr(CHOICE, "_fastest", {})
    monkeypatch.setattr(CHOICE, "_obstacles", {})
