"""A user's own Python file: imported once, and not at all when it cannot be."""

import sys
from pathlib import Path

import pytest

from bench import plugins


def test_file_that_raises_is_not_left_half_imported(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("half = True\nraise RuntimeError('not yet')\n")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not yet"):
            plugins.load(path)
    assert plugins.module_name(path) not in sys.modules
    path.write_text("whole = True\n")
    assert plugins.load(path).whole
