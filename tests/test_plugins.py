"""A user's own Python file: imported once, and not at all when it cannot be."""

import subprocess
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


@pytest.mark.parametrize("beside", ["models/__init__.py", "datasets/__init__.py", "utils.py", "click.py"])
def test_what_lies_beside_a_file_wins_over_packages_and_over_this_project(
    tmp_path: Path, beside: str
) -> None:
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("mine = True\n")
    (tmp_path / "net.py").write_text(
        f"import {Path(beside).parts[0].removesuffix('.py')} as found\nimport json\n"
    )
    (tmp_path / "json.py").write_text("mine = True\n")
    code = f"""if True:
        import sys
        from pathlib import Path
        sys.path = [path for path in sys.path if path]
        sys.path.append({str(Path(plugins.__file__).parents[1])!r})
        from bench import plugins
        loaded = plugins.load(Path({str(tmp_path / "net.py")!r}))
        print(loaded.found.mine, hasattr(loaded.json, "mine"))
    """
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "True False\n"


STEALTHY = """
import os, random, signal, sys
import numpy as np, torch
os.chdir("/")
os.close(1)
sys.stderr.close()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
torch.set_default_dtype(torch.float64)
torch.set_num_threads(7)
torch.manual_seed(1), np.random.seed(1), random.seed(1)
"""


def test_what_a_file_changes_of_its_process_at_import_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(STEALTHY)
    code = f"""if True:
        import os, random, signal, sys
        from pathlib import Path
        import numpy as np, torch
        from bench import plugins
        torch.set_num_threads(1)
        draws = lambda: (torch.rand(1).item(), np.random.rand(), random.random())
        def seed(): torch.manual_seed(41), np.random.seed(41), random.seed(41)
        seed()
        before = os.getcwd(), signal.getsignal(signal.SIGTERM), torch.get_default_dtype(), 1, draws()
        seed()
        plugins.load(Path({str(tmp_path / "net.py")!r}))
        threads = torch.get_num_threads()
        after = os.getcwd(), signal.getsignal(signal.SIGTERM), torch.get_default_dtype(), threads, draws()
        print(before == after)
        print("heard", file=sys.stderr)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "heard\n")
