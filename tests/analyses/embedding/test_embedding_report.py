"""The table and the maps of features."""

from pathlib import Path

import numpy as np
import pytest

from bench.analyses import store
from bench.analyses.arrays import write_arrays
from bench.analyses.contract import Shown
from bench.analyses.embedding.record import ANALYSIS, EmbeddingRecord, SeedEmbedding
from bench.analyses.embedding.report import clusters_by, embedding_table
from bench.analyses.runner import shown
from bench.render.style import figure_style
from tests.analyses.analysed_cells import analysed


def seed_embedding(seed: int, by_class: float | None, by_subject: float | None) -> SeedEmbedding:
    return SeedEmbedding(
        seed=seed,
        silhouette_class=by_class,
        silhouette_subject=by_subject,
        class_from_others=0.4 + seed / 1000,
        class_from_all=0.9,
        subject_from_all=0.8,
    )


def record_of(out: Path, *seeds: SeedEmbedding) -> EmbeddingRecord:
    """Write and return a record of 24 windows of 12 subjects."""
    subjects = np.repeat([f"s{number:02d}" for number in range(12)], 2)
    labels = np.repeat(np.arange(12) % 2, 2)
    position = np.random.default_rng(0).normal(size=(24, 2)).astype(np.float32)
    cells = analysed(out, "ptb")
    record = EmbeddingRecord(
        schema=1,
        created="2026-01-01T00:00:00+00:00",
        cells=cells,
        n_windows=24,
        n_subjects=12,
        n_features=8,
        largest_class=0.5,
        constant_from_others=0.25,
        largest_subject=1 / 12,
        n_neighbours=15,
        perplexity=7.5,
        tsne_seed=41,
        n_components=8,
        map_seed=41,
        seeds=seeds or (seed_embedding(41, 0.1, 0.3), seed_embedding(42, 0.1, 0.2)),
        arrays_sha256=write_arrays(
            ANALYSIS.folder_in(out),
            "ptb-medmamba",
            {"position": position, "label": labels, "subject": subjects},
        ),
    )
    store.write(out, ANALYSIS, record)
    return record


@pytest.mark.parametrize(
    ("silhouettes", "expected"),
    [
        ([(0.1, 0.3), (0.1, 0.2)], "person"),
        ([(0.3, 0.1), (0.2, -0.1)], "class"),
        ([(-0.1, 0.0)], "neither"),
        ([(0.1, 0.3), (0.3, 0.1)], "seeds differ"),
        ([(None, 0.1)], "--"),
    ],
)
def test_clusters_by(tmp_path: Path, silhouettes: list, expected: str) -> None:
    seeds = [seed_embedding(41 + number, *one) for number, one in enumerate(silhouettes)]
    assert clusters_by(record_of(tmp_path, *seeds)) == expected


def test_table_has_means_and_what_a_constant_guess_gets(tmp_path: Path) -> None:
    table = embedding_table([record_of(tmp_path)])
    model, guess = table.blocks[0].rows
    assert model.cells[2].mean == pytest.approx(0.4415)
    assert [cell.mean for cell in guess.cells] == [None, None, 0.25, 0.5, 1 / 12, None]


def test_maps_are_captioned_with_perplexity_and_seed(tmp_path: Path) -> None:
    record_of(tmp_path)
    by_class, by_subject = shown(ANALYSIS, tmp_path, print).figures
    assert "perplexity 7.5, seed 41, after PCA to 8" in by_class.caption
    assert "the others are grey" in by_subject.caption
    assert by_class.stamp == by_subject.stamp == "PTB"


def test_maps_name_the_classes_or_the_first_subjects(tmp_path: Path) -> None:
    record_of(tmp_path)
    figures = shown(ANALYSIS, tmp_path, print).figures
    names = []
    with figure_style():
        for one in figures:
            legend = one.draw().axes[0].get_legend()
            assert legend is not None
            names.append([text.get_text() for text in legend.get_texts()])
    assert names[0] == ["healthy control", "myocardial infarction"]
    assert names[1] == ["2 others", *(f"s{number:02d}" for number in range(10))]


def test_nothing_analysed_is_no_report(tmp_path: Path) -> None:
    assert shown(ANALYSIS, tmp_path, print) == Shown()
