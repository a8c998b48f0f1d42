"""A run under another recipe's name trains nothing whose key is already done."""

from pathlib import Path

from bench.plan.request import make_request
from bench.results.store import read_all
from bench.run.resources import Resources
from bench.run.run_grid import execute

SMALL = ("epochs=1", "warmup_epochs=0", "batch_size=8", "d_model=8", "n_layers=1")


def test_the_same_key_is_never_trained_twice(data: Path, tmp_path: Path) -> None:
    outcomes = []
    for recipe in ("medmamba", "published"):
        request = make_request(
            models_text="medmamba",
            datasets_text="uci-har",
            seeds_text="41",
            preset_name="paper",
            recipe_name=recipe,
            assignments=SMALL,
        )
        outcomes.append(execute(request, data, tmp_path / "r", Resources(device="cpu")).outcomes)
    assert outcomes == [{"ok": 1}, {"already-done": 1}]
    records, damaged = read_all(tmp_path / "r")
    assert damaged == []
    first, second = records
    assert (first.cell.recipe, second.cell.recipe) == ("medmamba", "published")
    assert (first.key, first.metrics) == (second.key, second.metrics)
