from dataclasses import replace
from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.efficiency.panels import panels
from bench.analyses.efficiency.record import ANALYSIS
from bench.analyses.efficiency.tables import cost_table, ratio_table, speed_table, spread_table, three_digits
from bench.analyses.runner import shown
from bench.render.export import write_report
from bench.render.table import Cell, Table
from bench.results.efficiency_record import EfficiencyRecord, TimedWorkload
from tests.analyses.efficiency.efficiency_records import make_condition, make_record, make_session

RATIO = "panel 1: ADFTD, script, cpu, batch 256"


def cell(table: Table, row: str, column: str, block: int = 0) -> Cell:
    found = next(one for one in table.blocks[block].rows if one.label == row)
    return found.cells[table.columns.index(column)]


def note(table: Table, one: Cell) -> str:
    assert one.note is not None
    return table.footnotes[one.note - 1]


def test_record_survives_the_disk(tmp_path: Path) -> None:
    records = make_session()[:2]
    for record in records:
        store.write(tmp_path, ANALYSIS, record)
    assert store.read(tmp_path, ANALYSIS) == (records, [])


def test_sessions_of_one_key_stay_side_by_side(tmp_path: Path) -> None:
    """A ratio needs both models of one session, also when one of them was measured again since."""
    sessions = ["2026-01-01", "2026-02-01"]
    for session in sessions:
        store.write(tmp_path, ANALYSIS, make_record("medmamba", (make_condition(3200),), session=session))
    records, _ = store.read(tmp_path, ANALYSIS)
    assert [one.session for one in records] == sessions


def test_damaged_record_is_named_and_the_rest_read(tmp_path: Path) -> None:
    path = store.write(tmp_path, ANALYSIS, make_session()[0])
    path.with_name("broken.json").write_text("{", encoding="utf-8")
    records, damaged = store.read(tmp_path, ANALYSIS)
    assert len(records) == 1
    assert "broken.json" in str(damaged[0])


def test_newer_schema_is_not_guessed_at(tmp_path: Path) -> None:
    path = store.write(tmp_path, ANALYSIS, make_session()[0])
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'), encoding="utf-8")
    _, damaged = store.read(tmp_path, ANALYSIS)
    assert "schema 2 is newer" in str(damaged[0])


def test_devices_have_tables_of_their_own(tmp_path: Path) -> None:
    on_cuda = [one.model_copy(update={"key": "1" * 64}) for one in make_session(device="cuda", factor=20)]
    for record in (*make_session(), *on_cuda):
        store.write(tmp_path, ANALYSIS, record)
    tables = {one.name: one for one in shown(ANALYSIS, tmp_path, print).tables}
    headings = {
        name: [block.heading for block in table.blocks]
        for name, table in tables.items()
        if name.startswith("efficiency-speed")
    }
    assert headings == {
        "efficiency-speed-cpu-1": ["panel 1: ADFTD, script, cpu"],
        "efficiency-speed-cuda-2": ["panel 2: ADFTD, script, cuda"],
    }
    one = cell(tables["efficiency-speed-cuda-2"], "medmamba", "inference at 256, windows/s")
    assert one.mean == pytest.approx(64000)


def test_sizes_of_another_preset_are_not_called_the_scripts() -> None:
    (panel,) = panels([make_session()[0].model_copy(update={"preset": "demo"})])
    assert panel.label == "ADFTD, script of preset demo, cpu"


def test_scan_backends_have_panels_of_their_own() -> None:
    record = make_session()[0]
    torch_scan = record.environment.model_copy(update={"scan_backend": "torch"})
    found = panels([record, record.model_copy(update={"environment": torch_scan})])
    assert [panel.key.scan_backend for panel in found] == [None, "torch"]


def test_device_threads_and_versions_stand_in_the_caption() -> None:
    caption = speed_table(panels(make_session())).caption
    assert "ADFTD 256 x 19, width script, made-up cpu (cpu), 2 threads, float32, torch 2.13.0" in caption


def test_width_and_time_that_were_asked_for_stand_in_the_caption() -> None:
    assert "until ±5% or 40 s a model" in speed_table(panels(make_session())).caption


def test_throughput_has_its_interval() -> None:
    one = cell(speed_table(panels(make_session())), "medmamba", "inference at 256, windows/s")
    assert one.text == "3200 ±1%"
    assert (one.low, one.high) == pytest.approx((3200 / 1.01, 3200 / 0.99))


def test_latency_is_in_milliseconds() -> None:
    record = make_record("medmamba", (make_condition(200, batch=1),))
    table = speed_table(panels([record]))
    assert cell(table, "medmamba", "latency, ms").mean == pytest.approx(5.0)
    assert cell(table, "medmamba", "95th percentile, ms").mean == pytest.approx(5.05)


def test_costs_are_in_their_units() -> None:
    table = cost_table(panels(make_session()))
    shown = [cell(table, "medmamba", column).text for column in table.columns]
    assert shown == ["5.72", "5.72", "0.6", "0.05", "100", "100"]


def test_smaller_batch_is_said() -> None:
    record = make_record("medformer", (make_condition(700, batch=64, asked=256),))
    table = speed_table(panels([record]))
    one = cell(table, "medformer", "inference at 256, windows/s")
    assert one.mean == pytest.approx(700)
    assert note(table, one) == "medformer: batch 64, the largest by halving 256 that fits in memory"


def test_what_could_not_be_run_has_its_reason() -> None:
    said = "medformer, inference at batch 256: out of memory"
    failed = TimedWorkload(mode="inference", batch_asked=256, batch=None, message=said)
    table = speed_table(panels([make_record("medformer", (failed,))]))
    one = cell(table, "medformer", "inference at 256, windows/s")
    assert one.is_empty
    assert note(table, one) == said


def quality(condition: TimedWorkload) -> str | None:
    """Return the footnote of a throughput."""
    table = speed_table(panels([make_record("medformer", (condition,))]))
    one = cell(table, "medformer", "inference at 256, windows/s")
    return None if one.note is None else note(table, one)


def wide(condition: TimedWorkload) -> TimedWorkload:
    """Make rounds differ so much that their median is not known to 5 percent."""
    rounds = tuple((one * (1 + 0.3 * (number % 2)),) for number, (one,) in enumerate(condition.rounds))
    return condition.model_copy(update={"rounds": rounds})


@pytest.mark.parametrize(
    ("n_rounds", "stop", "said"),
    [
        (3, "time limit", "stopped at the time limit with fewer than six rounds: no interval"),
        (8, "time limit", "stopped at the time limit before the interval was ±5%"),
        (8, "most rounds", "stopped at the largest number of rounds before the interval was ±5%"),
        (3, "fell out", "given up after 3 rounds: out of memory"),
        (8, "fell out", "given up after 8 rounds: out of memory"),
    ],
)
def test_reason_for_a_poor_interval_is_said(n_rounds: int, stop: str, said: str) -> None:
    condition = wide(make_condition(700, n_rounds=n_rounds))
    message = "out of memory" if stop == "fell out" else ""
    assert quality(condition.model_copy(update={"stop": stop, "message": message})) == said


def test_narrow_interval_needs_no_excuse() -> None:
    """As of MedMamba, which stays in the turns after it was stopped."""
    assert quality(make_condition(700, n_rounds=9).model_copy(update={"stop": "time limit"})) is None


def test_smaller_batch_does_not_hide_a_poor_interval() -> None:
    condition = wide(make_condition(700, n_rounds=8, batch=64, asked=256))
    said = quality(condition.model_copy(update={"stop": "time limit"}))
    assert said is not None
    assert "batch 64" in said
    assert "before the interval was ±5%" in said


def test_memory_of_a_smaller_batch_is_marked_where_its_timing_failed() -> None:
    condition = make_condition(700, batch=64, asked=256).model_copy(update={"rounds": (), "message": "late"})
    table = cost_table(panels([make_record("medformer", (condition,))]))
    assert "batch 64" in note(table, cell(table, "medformer", "inference at 256"))


def test_spread_shows_the_quartiles_of_single_runs() -> None:
    table = spread_table(panels(make_session()))
    assert cell(table, "medmamba", "inference at 256").text == "-1.0 to +0.5 (7)"


def test_single_run_has_no_quartiles() -> None:
    table = spread_table(panels([make_record("medmamba", (make_condition(3200, n_rounds=1),))]))
    assert cell(table, "medmamba", "inference at 256").text is None
    assert "a single run has no quartiles" in table.footnotes


def test_warnings_are_footnotes() -> None:
    record = make_record("medmamba", (make_condition(3200),), warnings=("load average 3.0",))
    assert any("load average 3.0" in one for one in speed_table(panels([record])).footnotes)


def test_ratios_stand_beside_the_published_ones() -> None:
    table = ratio_table(panels(make_session()))
    assert cell(table, "medformer", RATIO).mean == pytest.approx(3200 / 700)
    assert cell(table, "medformer", "ratio").text == "4.6"
    assert cell(table, "patchtst", "ratio").text == "4.6 to 5.3"
    assert cell(table, "itransformer", "ratio").is_empty


def test_ratios_are_within_a_device() -> None:
    found = panels([*make_session(), *make_session(device="cuda", factor=20)])
    table = ratio_table(found)
    ratios = [cell(table, "medformer", column).mean for column in table.columns[:2]]
    assert ratios == pytest.approx([3200 / 700] * 2)


def test_ratios_are_within_a_session() -> None:
    records: list[EfficiencyRecord] = [
        make_record("medmamba", (make_condition(3200),), session="2026-01-01"),
        make_record("medformer", (make_condition(700),), session="2026-02-01"),
    ]
    table = ratio_table(panels(records))
    one = cell(table, "medformer", RATIO)
    assert one.is_empty
    assert note(table, one) == "no pair of timings from one session"


def test_newest_record_of_a_model_stands_for_it() -> None:
    records = [
        make_record("medmamba", (make_condition(rate),), session=session)
        for session, rate in (("2026-02-01", 2000), ("2026-01-01", 1000))
    ]
    (panel,) = panels(records)
    assert panel.throughput("medmamba") == pytest.approx(2000)


def test_later_smaller_measurement_hides_nothing() -> None:
    session = [one for one in make_session() if one.model in ("medmamba", "medformer")]
    training = make_condition(900, mode="training", batch=32)
    later = make_record("medmamba", (training,), session="2026-02-01", n_parameters=5_719_881)
    (panel,) = panels([*session, later])
    table = speed_table([panel])
    assert cell(table, "medmamba", "inference at 256, windows/s").mean == pytest.approx(3200)
    assert cell(table, "medmamba", "training at 32, windows/s").mean == pytest.approx(900)
    assert cell(ratio_table([panel]), "medformer", RATIO).mean == pytest.approx(3200 / 700)


def test_timings_of_another_revision_are_not_mixed_in() -> None:
    old = make_record("medmamba", (make_condition(3200),)).model_copy(update={"revision": 0})
    training = make_condition(900, mode="training", batch=32)
    (panel,) = panels([old, make_record("medmamba", (training,), session="2026-02-01")])
    assert panel.throughput("medmamba") is None


def test_ratio_is_of_the_newest_session_that_has_both() -> None:
    records = [
        make_record(model, (make_condition(rate),), session=session)
        for session, model, rate in (
            ("2026-01-01", "medmamba", 3200),
            ("2026-01-01", "medformer", 800),
            ("2026-02-01", "medmamba", 1600),
        )
    ]
    ratio = panels(records)[0].ratio("medformer")
    assert ratio is not None
    assert ratio.median == pytest.approx(4.0)


def test_ratio_says_that_a_model_ran_at_another_batch() -> None:
    records = [
        make_record("medmamba", (make_condition(3200),)),
        make_record("medformer", (make_condition(700, batch=64, asked=256),)),
    ]
    table = ratio_table(panels(records))
    assert "medformer: batch 64" in note(table, cell(table, "medformer", RATIO))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.000672, "0.000672"), (0.0000123, "0.000012"), (0.123456, "0.123"), (5.719, "5.72"), (3210.4, "3210")],
)
def test_three_digits_count(value: float, shown: str) -> None:
    assert three_digits(value) == shown


def test_report_writes_tables_figures_and_captions(tmp_path: Path) -> None:
    for record in make_session():
        store.write(tmp_path, ANALYSIS, record)
    report = shown(ANALYSIS, tmp_path, print)
    files = write_report(report.tables, report.figures, tmp_path / "report")
    assert {path.name for path in files} >= {
        "efficiency-cost.tex",
        "efficiency-speed.md",
        "efficiency-ratio.csv",
        "efficiency-adftd-script-cpu.pdf",
        "efficiency-adftd-script-cpu.svg",
        "efficiency-adftd-script-cpu.png",
        "efficiency-adftd-script-cpu.txt",
    }
    assert all(path.stat().st_size for path in files)


def test_folder_without_records_has_an_empty_report(tmp_path: Path) -> None:
    assert shown(ANALYSIS, tmp_path, print).tables == ()


def test_panels_do_not_mix_threads() -> None:
    record = make_session()[0]
    other = record.model_copy(update={"environment": record.environment.model_copy(update={"threads": 8})})
    keys = [panel.key for panel in panels([record, other])]
    assert keys[0] == replace(keys[1], threads=keys[0].threads)
    assert {key.threads for key in keys} == {2, 8}


BUSY = "other programs kept up to 1.5 cores busy during the measurement, 0.9 on average"


def test_disturbed_timings_are_not_printed_and_memory_is() -> None:
    disturbed = [record.model_copy(update={"warnings": (BUSY,)}) for record in make_session()]
    found = panels(disturbed)
    tables = [speed_table(found), ratio_table(found), spread_table(found)]
    columns = ["inference at 256, windows/s", RATIO, "inference at 256"]
    for table, column in zip(tables, columns, strict=True):
        shown_cell = cell(table, "medmamba", column)
        assert shown_cell.is_empty
        assert note(table, shown_cell).startswith("not shown: other programs took more than half a core")
    memory = cell(cost_table(found), "medmamba", "inference at 256")
    assert memory.mean == pytest.approx(100)
    assert found[0].throughput("medmamba") is None


def test_an_earlier_quiet_session_stands_in_for_a_disturbed_one() -> None:
    quiet = make_record("medmamba", (make_condition(3200),), session="2026-01-01")
    disturbed = make_record("medmamba", (make_condition(100),), session="2026-02-01", warnings=(BUSY,))
    (panel,) = panels([quiet, disturbed])
    assert panel.throughput("medmamba") == pytest.approx(3200, rel=0.02)
