"""Data that say by a small file beside them what they are: kind, share and remark reach every caption."""

import json
from pathlib import Path

import pytest

from bench import datasets
from bench.datasets.contract import DatasetFacts
from bench.datasets.declared import DECLARATION_NAME, read_declaration
from bench.datasets.provenance import provenance_of, share_text
from bench.datasets.registry import facts
from bench.datasets.simulate import uci_har as simulator
from bench.datasets.simulate.marker import write_marker
from bench.errors import DataError
from bench.plan.data import cell_data
from bench.settings import preset, resolve
from bench.studies import kinds


def declare(folder: Path, **values: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DECLARATION_NAME).write_text(json.dumps(values))


def provenance(known: DatasetFacts, folder: Path, n_windows: int):
    return provenance_of(
        known,
        folder,
        is_own=False,
        n_subjects=known.n_subjects,
        n_records=2,
        n_windows=n_windows,
        n_skipped=0,
    )


def test_share_is_counted_where_the_published_number_is_known(tmp_path: Path) -> None:
    declare(tmp_path, kind="converted", remark="from halves", share=0.5)

    found = provenance(facts("uci-har"), tmp_path, 9_704)

    assert (found.kind, found.remark) == ("converted", "from halves")
    assert share_text(found.share) == ", 94.2 % of the windows"


def test_declared_data_are_never_whole(tmp_path: Path) -> None:
    declare(tmp_path, kind="converted")

    found = provenance(facts("uci-har"), tmp_path, 10_299)

    assert (found.kind, share_text(found.share)) == ("converted", ", all windows")


def test_nearly_all_windows_are_not_all() -> None:
    assert share_text(0.99999) == ", 99.9 % of the windows"


def test_simulated_data_cannot_be_declared_real(tmp_path: Path) -> None:
    write_marker(tmp_path, simulator="x")
    declare(tmp_path, kind="converted", remark="really")

    found = provenance(facts("uci-har"), tmp_path, 9_704)

    assert (found.kind, found.share, found.remark) == ("simulated", None, "")


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "whole"}',
        '{"kind": "converted", "remark": "a\\nb"}',
        '{"kind": "converted", "share": 2}',
        "[]",
        "{",
        "\xff",
    ],
)
def test_unusable_declaration_names_file_and_form(tmp_path: Path, text: str) -> None:
    (tmp_path / DECLARATION_NAME).write_text(text, encoding="latin-1")

    with pytest.raises(DataError, match=r"DATA\.json.*expected \{\"kind\": \"converted\"") as error:
        read_declaration(tmp_path)
    assert "\n" not in str(error.value)


def test_caption_of_a_cell_says_kind_share_and_remark(tmp_path: Path) -> None:
    folder = tmp_path / "uci-har"
    simulator.simulate(folder, n_subjects=6, seconds=3.84, seed=7)
    (folder / "SIMULATED.json").unlink()
    declare(folder, kind="converted", remark="for this test")
    manifest = datasets.prepare("uci-har", tmp_path)
    settings = resolve("fcn", "uci-har", 41, recipe_name="medmamba", preset=preset("paper"), assignments={})

    description = cell_data(settings, manifest).description

    share = share_text(manifest.n_windows / 10_299)
    assert kinds.sentence(description) == f"the dataset, converted{share} (for this test)"
    assert kinds.suffix(description) == f", converted{share}"


def test_a_new_declaration_prepares_anew(tmp_path: Path) -> None:
    simulator.simulate(tmp_path / "uci-har", n_subjects=6, seconds=3.84, seed=7)
    (tmp_path / "uci-har" / "SIMULATED.json").unlink()
    assert datasets.prepare("uci-har", tmp_path).provenance.kind == "excerpt"

    declare(tmp_path / "uci-har", kind="converted")

    assert datasets.find_prepared("uci-har", tmp_path) is None
    assert datasets.prepare("uci-har", tmp_path).provenance.kind == "converted"
