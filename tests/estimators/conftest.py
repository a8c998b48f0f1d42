"""What tests of estimators share: the registry as it was before each, and small tasks."""

from collections.abc import Iterator

import numpy as np
import pytest

from bench.estimators.contract import Labels, Windows
from tests.fixtures.registries import registered_for_now


@pytest.fixture(autouse=True)
def estimators() -> Iterator[None]:
    """Forget the estimators that a test registers."""
    with registered_for_now():
        yield


@pytest.fixture(scope="module")
def task() -> tuple[Windows, Labels]:
    """Sixty windows ``(60, 2, 32)`` of three classes, told apart by the level of the second channel."""
    generator = np.random.default_rng(3)
    labels = np.arange(60) % 3
    windows = generator.normal(size=(60, 2, 32)).astype(np.float32)
    windows[:, 1] += 2 * labels[:, None]
    return windows, labels
