"""What the table of scales says of the paper's words on bands."""

from pathlib import Path

import pytest

from bench.analyses.scales.record import Band, BranchCell, ScalesCell, ScalesRecord
from bench.analyses.scales.report import gain_table, preferred, verdict, worth_table
from tests.analyses.analysed_cells import analysed

BANDS = (
    Band(name="theta", low_hz=4, high_hz=8),
    Band(name="alpha", low_hz=8, high_hz=13),
    Band(name="beta", low_hz=13, high_hz=30),
)
HZ = (5.0, 10.0, 20.0)
THETA, ALPHA, BETA, FLAT = (2.0, 0.5, 0.5), (0.5, 2.0, 0.5), (0.5, 0.5, 2.0), (1.0, 1.05, 0.95)
Gain = tuple[float, float, float]


def make(
    folder: Path, *seeds: tuple[Gain, Gain, Gain], dataset: str = "adftd", kind: str = "whole"
) -> ScalesRecord:
    """Make a record of cells whose branches have the given gains."""
    cells = tuple(
        ScalesCell(
            seed=41 + number,
            f1=0.5,
            branches=tuple(
                BranchCell(gain=gain, energy=(0.2, 0.3, 0.5), f1_without=0.4, f1_alone=0.3) for gain in gains
            ),
        )
        for number, gains in enumerate(seeds)
    )
    return ScalesRecord(
        created="2026-01-01T00:00:00+00:00",
        about=analysed(folder, dataset, kind),
        is_eeg=dataset == "adftd",
        sampling_rate_hz=256.0,
        n_times=256,
        strides=(5, 10, 25),
        frequencies_hz=HZ,
        bands=BANDS,
        n_windows=30,
        n_windows_of_part=30,
        windows_per_class=(10, 10, 10),
        cells=cells,
    )


def test_words_hold_where_every_branch_prefers_its_band(tmp_path: Path) -> None:
    record = make(tmp_path, (BETA, ALPHA, THETA), (BETA, ALPHA, THETA))
    assert "holds here (stride 5: beta stated, beta found" in verdict(record)


def test_one_branch_that_differs_makes_the_words_not_hold(tmp_path: Path) -> None:
    record = make(tmp_path, (BETA, ALPHA, BETA))
    assert "does not hold here (stride 25: theta or alpha stated, beta found" in verdict(record)


def test_flat_kernels_prefer_nothing(tmp_path: Path) -> None:
    record = make(tmp_path, (FLAT, FLAT, FLAT))
    assert preferred(record, 0) == ""
    assert "stride 5: beta stated, none preferred found" in verdict(record)


def test_a_preference_that_seeds_do_not_share_is_none(tmp_path: Path) -> None:
    assert (
        preferred(make(tmp_path, ((0.5, 0.5, 2.0), ALPHA, THETA), ((1.2, 1.2, 0.6), ALPHA, THETA)), 0) == ""
    )


def test_simulated_data_are_named_in_the_verdict(tmp_path: Path) -> None:
    assert "on SIMULATED data" in verdict(make(tmp_path, (BETA, ALPHA, THETA), kind="simulated"))


def test_words_say_nothing_of_signals_that_are_no_eeg(tmp_path: Path) -> None:
    for dataset in ("ptb", "sleep-edf", "apava"):
        folder = tmp_path / dataset
        folder.mkdir()
        said = verdict(make(folder, (BETA, ALPHA, THETA), dataset=dataset))
        assert (
            said
            == "What the paper says of bands is about the EEG of ADFTD at 256 Hz; these data are different."
        )


def test_table_has_lengths_and_limits_by_hand(tmp_path: Path) -> None:
    cells = gain_table(make(tmp_path, (BETA, ALPHA, THETA))).rows[2].cells
    # 25 steps at 256 Hz.
    assert [one.text for one in cells[:3]] == ["97.66 ms", "10.2 Hz", "5.12 Hz"]
    assert [one.mean for one in cells[3:6]] == [2.0, 0.5, 0.5]


def test_worth_is_the_difference_to_all_branches(tmp_path: Path) -> None:
    rows = {one.label: one.cells for one in worth_table(make(tmp_path, (BETA, ALPHA, THETA))).rows}
    assert rows["without stride 10"][0].mean == pytest.approx(40)
    assert rows["without stride 10"][1].mean == pytest.approx(-10)
    assert rows["only stride 10"][1].mean == pytest.approx(-20)
