"""Writing a fitted estimator by a package that may be absent."""

import sys
from pathlib import Path

import pytest

from bench.errors import UsageError
from bench.estimators.keep_fitted import require_writer, write_fitted

STUB = """
def dump(estimator, path):
    path.write_text(f"written: {estimator}")
"""


def test_skops_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "skops").mkdir()
    (tmp_path / "skops" / "__init__.py").write_text("")
    (tmp_path / "skops" / "io.py").write_text(STUB)
    monkeypatch.syspath_prepend(tmp_path)
    write_fitted("me", tmp_path / "fitted.skops", "skops")
    assert (tmp_path / "fitted.skops").read_text() == "written: me"
    for name in ("skops", "skops.io"):
        monkeypatch.delitem(sys.modules, name)


def test_without_skops_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r"--keep-fitted skops: the package skops is not installed; install medmamba"
    ):
        require_writer("skops")
    with pytest.raises(UsageError, match="not installed"):
        write_fitted("me", tmp_path / "fitted.skops", "skops")
    assert not list(tmp_path.iterdir())
