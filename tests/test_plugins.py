"""A user's own Python file: imported once, and not at all when it cannot be."""

import sys
from pathlib import Path

import pytest

from bench import plugins
from bench.files import sha256_of


def test_file_that_raises_is_not_left_half_imported(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("half = True\nraise RuntimeError('not yet')\n")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not yet"):
            plugins.load(path)
    assert plugins.module_name(path) not in sys.modules
    path.write_text("whole = True\n")
    assert plugins.load(path).whole


def test_hash_of_a_lone_file_is_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import json\nfrom numpy import array\n")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    assert plugins.source_hash(path) == sha256_of(path)


@pytest.mark.parametrize(
    "text",
    ["import helper\n", "from helper import x\n", "def f():\n    import helper as h\n", "import between\n"],
)
@pytest.mark.parametrize("helper", ["helper.py", "helper/inner.py"])
def test_hash_follows_the_files_that_are_imported_from_beside(tmp_path: Path, text: str, helper: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    (tmp_path / "between.py").write_text("from helper import x\nimport mine\n")
    (tmp_path / helper).parent.mkdir(exist_ok=True)
    (tmp_path / helper).write_text("x = 1\n")
    before = plugins.source_hash(path)
    assert before == plugins.source_hash(path)
    (tmp_path / helper).write_text("x = 2\n")
    assert plugins.source_hash(path) != before


def test_file_that_is_no_python_has_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import helper (\n")
    assert plugins.source_hash(path) == sha256_of(path)
