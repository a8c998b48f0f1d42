"""A user's own dataset file: run apart, and every way to fail is one line that names the file."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench import datasets
from bench.datasets import registry
from bench.datasets.own.own_file import own_reader
from bench.errors import DataError
from tests.datasets import toy_dataset

GOOD = "from tests.datasets.toy_dataset import FACTS, REVISION, cut, records\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


def refused(path: Path, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        registry.register_file(str(path))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_file_is_not_imported_here(tmp_path: Path) -> None:
    trace = tmp_path / "imported by"
    path = write(
        tmp_path, f"import os, pathlib\npathlib.Path({str(trace)!r}).write_text(str(os.getpid()))\n{GOOD}"
    )
    before = set(sys.modules)
    assert registry.register_file(str(path)) == "toy"
    assert int(trace.read_text()) != os.getpid()
    assert not any(name.startswith("bench_plugin_mine") for name in set(sys.modules) - before)
    assert registry.facts("toy") == toy_dataset.FACTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nsys.exit(0)\n", r"mine.py, line 2: import failed \(SystemExit: 0\)"),
        ("import os\nos._exit(0)\n", "ended its process with 0 and no answer"),
        ("import os\nos.abort()\n", "ended its process with -6 and no answer"),
        (
            "raise ValueError('two\\nlines')\n",
            r"mine.py, line 1: import failed \(ValueError: two\\nlines\)",
        ),
        ("def records(:\n", r"mine.py, line 1: import failed \(SyntaxError"),
        ("import no_such_package_at_all\n", "ModuleNotFoundError: No module named 'no_such_package_at_all'"),
        ("REVISION = 1\n", "must define FACTS, records, cut"),
        (f"{GOOD}FACTS = {{'name': 'toy'}}\n", "FACTS is dict instead of a DatasetFacts"),
        (f"{GOOD}REVISION = 'first'\n", "revision: Input should be a valid integer"),
        (
            f"{GOOD}LIBRARIES = ('no-such-package-at-all',)\n",
            "'no-such-package-at-all', which is not installed",
        ),
        (
            f"{GOOD}from dataclasses import replace\nFACTS = replace(FACTS, name='../../elsewhere')\n",
            "FACTS.name '../../elsewhere': use letters",
        ),
        (
            f"{GOOD}from dataclasses import replace\nFACTS = replace(FACTS, n_times='many')\n",
            "FACTS: n_times: Input should be a valid integer",
        ),
        (
            f"{GOOD}from dataclasses import replace\nFACTS = replace(FACTS, class_names=('Ill', 'ill '))\n",
            "two classes are named 'ill '",
        ),
        (
            f"{GOOD}from dataclasses import replace\nFACTS = replace(FACTS, title='red \\x1b[31m')\n",
            "must be printable text on one line",
        ),
    ],
)
def test_file_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    refused(write(tmp_path, text), message)


def test_what_a_file_leaves_running_is_ended(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    path = write(
        tmp_path,
        "import os, pathlib, threading, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    time.sleep(600)\n    os._exit(0)\n"
        f"pathlib.Path({str(noted)!r}).write_text(str(pid))\n"
        f"threading.Thread(target=time.sleep, args=(600,)).start()\n{GOOD}",
    )
    began = time.monotonic()
    registry.register_file(str(path))
    assert time.monotonic() - began < 300
    status = Path(f"/proc/{noted.read_text()}/stat")
    deadline = time.monotonic() + 30
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline, "the forked process is alive"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def records(folder): return ['anna']\n", r"records\(\) is list instead of a SourceList"),
        ("def records(folder): return 1 / 0\n", r"records\(\) failed \(ZeroDivisionError"),
        (
            "from bench.datasets.contract import SourceList\ndef records(folder): return SourceList(('anna',))\n",
            r"records\(\): records\.0: Input should be",
        ),
    ],
)
def test_wrong_listing_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    reader = own_reader(write(tmp_path, GOOD + text))
    with pytest.raises(DataError, match=message) as caught:
        reader.records(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def cut(folder, record): return []\n", r"cut\(\) returned list instead of a Cut"),
        (
            "def cut(folder, record): raise KeyError(record.name)\n",
            r"line 2: cut\(\) failed \(KeyError: 'anna_0'\)",
        ),
        ("import sys\ndef cut(folder, record): sys.exit(0)\n", r"cut\(\) failed \(SystemExit: 0\)"),
    ],
)
def test_cut_that_fails_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    toy_dataset.write(tmp_path, "anna_0")
    reader = own_reader(write(tmp_path, GOOD + text))
    record = reader.records(tmp_path / "toy").records[0]
    with pytest.raises(DataError, match=message):
        reader.cut(tmp_path / "toy", record)


def test_windows_are_those_of_the_file(tmp_path: Path) -> None:
    windows = [toy_dataset.write(tmp_path, name) for name in ("anna_0", "bert_1")]
    registry.register_file(str(write(tmp_path, GOOD)))
    manifest = datasets.prepare("toy", tmp_path)
    assert (manifest.n_windows, manifest.provenance.kind) == (sum(map(len, windows)), "own")
