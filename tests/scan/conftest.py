"""Tests of the kernel's own building get an empty cache each."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("BENCH_CACHE", str(folder))
    return folder
