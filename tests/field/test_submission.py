"""A results pack as a submission: its rows follow from its predictions, packs merge, and tampering is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.datasets.simulate import uci_har as simulator
from bench.errors import RecordError
from bench.field import submission
from bench.files import sha256_of
from bench.results.pack import pack


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of a model on data that pass for converted, trained through the command line."""
    root = tmp_path_factory.mktemp("submitted")
    simulator.simulate(root / "data" / "uci-har", n_subjects=6, seconds=3.84, seed=7)
    (root / "data" / "uci-har" / "SIMULATED.json").unlink()
    (root / "data" / "uci-har" / "DATA.json").write_text('{"kind": "converted", "remark": "for a test"}')
    command = ["run", "--models", "fcn", "--datasets", "uci-har", "--seeds", "41,42", "--device", "cpu"]
    command += ["--set", "epochs=1", "--data", str(root / "data"), "--out", str(root / "r")]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return root / "r"


def packed(out: Path, target: Path) -> Path:
    empty = target.parent / "no-report"
    empty.mkdir(exist_ok=True)
    return pack(out, empty, target).path


@pytest.fixture(scope="module")
def archive(out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pack of those results."""
    return packed(out, tmp_path_factory.mktemp("pack") / "results.zip")


def test_rows_have_the_scores_of_the_records(out: Path, archive: Path, tmp_path: Path) -> None:
    found = submission.add(archive, tmp_path)

    (row,) = found.rows
    records = [json.loads(path.read_text()) for path in out.glob("cells/*/*/*/record.json")]
    scores = [record["metrics"]["test"]["f1"] for record in records]
    assert row.mean("f1") == pytest.approx(100 * np.mean(scores))
    assert row.std("f1") == pytest.approx(100 * np.std(scores, ddof=1))
    assert [cell.seed for cell in row.cells] == [41, 42]
    assert submission.submissions(tmp_path) == [found]
    lines = (tmp_path / "windows" / f"{row.cells[0].key[:12]}.csv").read_text().splitlines()
    assert len(lines) == 1 + row.n_test_windows


def test_packs_from_two_machines_merge_and_repeat_nothing(out: Path, archive: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    shutil.copytree(out, part)
    shutil.rmtree(next(part.glob("cells/*/*/*-s42-*")))
    first = submission.add(packed(part, tmp_path / "part.zip"), tmp_path / "field")
    second = submission.add(archive, tmp_path / "field")

    assert [cell.seed for row in first.rows for cell in row.cells] == [41]
    assert [cell.seed for row in second.rows for cell in row.cells] == [42]
    with pytest.raises(RecordError, match="all its cells were submitted before"):
        submission.add(archive, tmp_path / "field")


def _record(out: Path) -> Path:
    return sorted(out.glob("cells/*/*/*/record.json"))[0]


def _edit(path: Path, change: Callable[[dict], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def tampered_predictions(out: Path) -> None:
    """Other logits, with the hash in the record put right."""
    record = _record(out)
    path = record.with_name("predictions.npz")
    with np.load(path, allow_pickle=False) as arrays:
        values = dict(arrays)
    values["logits"] = np.eye(6, dtype=np.float32)[values["label"]]
    np.savez_compressed(path, **values)
    _edit(record, lambda content: content["files"].update({"predictions.npz": sha256_of(path)}))


def changed_score(out: Path) -> None:
    _edit(_record(out), lambda content: content["metrics"]["test"].update({"f1": 0.99}))


def foreign_key(out: Path) -> None:
    """The record of one seed under the name and key of another."""
    path = _record(out)
    _edit(path, lambda content: content.update({"key": "ab" * 32}))
    path.parent.rename(path.parent.with_name(f"{path.parent.name[:-12]}{'ab' * 6}"))


def subject_in_two_parts(out: Path) -> None:
    (path,) = (out / "splits").iterdir()
    _edit(path, lambda content: content["train"].append(content["test"][0]))


def no_split(out: Path) -> None:
    shutil.rmtree(out / "splits")


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (tampered_predictions, r"metrics\.test\.\w+ is .* follows from the record"),
        (changed_score, r"metrics\.test\.f1 is 0\.99"),
        (foreign_key, r"key is 'abab"),
        (subject_in_two_parts, "is in two parts of a split"),
        (no_split, "does not hold the subjects of its split"),
    ],
)
def test_what_was_tampered_with_is_refused(
    out: Path, tmp_path: Path, tamper: Callable[[Path], None], reason: str
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(out, changed)
    tamper(changed)

    with pytest.raises(RecordError, match=reason) as error:
        submission.add(packed(changed, tmp_path / "p.zip"), tmp_path / "field")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "field").exists()


def test_simulated_results_are_refused(out: Path, tmp_path: Path) -> None:
    simulated = tmp_path / "simulated"
    shutil.copytree(out, simulated)
    for path in simulated.glob("cells/*/*/*/record.json"):
        _edit(path, lambda content: content["data"].update({"kind": "simulated", "share": None}))

    with pytest.raises(RecordError, match="simulated data, which others cannot compare with"):
        submission.verify(packed(simulated, tmp_path / "p.zip"))


def test_page_has_claimed_and_verified_rows(archive: Path, tmp_path: Path) -> None:
    run = CliRunner()
    added = run.invoke(
        main, ["field", "add", str(archive), "--folder", str(tmp_path)], catch_exceptions=False
    )
    rendered = run.invoke(main, ["field", "render", "--folder", str(tmp_path)], catch_exceptions=False)

    assert (added.exit_code, rendered.exit_code) == (0, 0)
    page = (tmp_path / "index.html").read_text()
    assert page.count('<td class="verified">') == 1
    assert "converted" in page
    assert "TeCh" in page
    assert "fcn,published,41,f1," in (tmp_path / "verified-seeds.csv").read_text()
