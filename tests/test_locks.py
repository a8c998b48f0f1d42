"""Locks of caches on file systems that have none."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from filelock import Timeout

from bench import locks
from bench.datasets.cache.entry import locate
from bench.datasets.cache.prepare import prepare
from bench.datasets.cache.stored import remove, stored
from tests.datasets import toy_dataset


def test_a_cache_is_filled_and_emptied_without_locks_and_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    toy_dataset.register(monkeypatch)
    for record in ("anna_0", "bert_1"):
        toy_dataset.write(tmp_path, record)
    prepare("toy", tmp_path)
    assert [remove(entry) for entry in stored()] == [True]
    prepare("toy", tmp_path)
    assert caplog.text.count("two processes may cut the same windows") == 1
    assert not list(locate("toy", tmp_path).entry.folder.parent.glob("*.partial"))


def test_a_lock_that_is_held_is_waited_for_no_longer_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        locks.locked(path, at_risk="-"),
        pytest.raises(Timeout),
        locks.locked(path, at_risk="-", timeout_s=0.0),
    ):
        pass
