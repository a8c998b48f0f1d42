from dataclasses import replace
from pathlib import Path

import pytest

from bench.reports.efficiency import efficiency_report, write_report
from bench.reports.efficiency_panels import panels
from bench.reports.efficiency_tables import cost_table, ratio_table, speed_table, three_digits
from bench.reports.table import Cell, Table
from bench.results.efficiency import Condition, EfficiencyRecord, read_efficiency, write_efficiency
from tests.reports.efficiency_records import make_condition, make_record, make_session


def cell(table: Table, row: str, column: str, block: int = 0) -> Cell:
    found = next(one for one in table.blocks[block].rows if one.label == row)
    return found.cells[table.columns.index(column)]


def note(table: Table, one: Cell) -> str:
    assert one.note is not None
    return table.footnotes[one.note - 1]


def test_record_survives_the_disk(tmp_path: Path) -> None:
    records = make_session()[:2]
    for record in records:
        write_efficiency(tmp_path, record)
    assert read_efficiency(tmp_path) == (records, [])


def test_newer_measurement_of_a_key_replaces_the_older(tmp_path: Path) -> None:
    for session in ("2026-01-01", "2026-02-01"):
        write_efficiency(tmp_path, make_record("medmamba", (make_condition(3200),), session=session))
    (record,), _ = read_efficiency(tmp_path)
    assert record.session == "2026-02-01"


def test_damaged_record_is_named_and_the_rest_read(tmp_path: Path) -> None:
    path = write_efficiency(tmp_path, make_session()[0])
    path.with_name("broken.json").write_text("{", encoding="utf-8")
    records, damaged = read_efficiency(tmp_path)
    assert len(records) == 1
    assert "broken.json" in str(damaged[0])


def test_newer_schema_is_not_guessed_at(tmp_path: Path) -> None:
    path = write_efficiency(tmp_path, make_session()[0])
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'), encoding="utf-8")
    _, damaged = read_efficiency(tmp_path)
    assert "schema 2 is newer" in str(damaged[0])


def test_devices_have_blocks_of_their_own() -> None:
    found = panels([*make_session(), *make_session(device="cuda", factor=20)])
    table = speed_table(found)
    column = "inference at 256, windows/s"
    assert [block.heading for block in table.blocks] == [
        "panel 1: ADFTD, script, cpu",
        "panel 2: ADFTD, script, cuda",
    ]
    assert cell(table, "medmamba", column, block=1).mean == pytest.approx(64000)


def test_device_threads_and_versions_stand_in_the_caption() -> None:
    caption = speed_table(panels(make_session())).caption
    assert "ADFTD 256 x 19, width script, made-up cpu (cpu), 2 threads, float32, torch 2.13.0" in caption


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
    failed = Condition(mode="inference", batch_asked=256, batch=None, message="out of memory")
    table = speed_table(panels([make_record("medformer", (failed,))]))
    one = cell(table, "medformer", "inference at 256, windows/s")
    assert one.is_empty
    assert note(table, one) == "medformer: out of memory"


@pytest.mark.parametrize(
    ("n_rounds", "said"),
    [
        (3, "stopped at the time limit with fewer than six rounds: no interval"),
        (8, "stopped at the time limit before the interval was as narrow as asked"),
    ],
)
def test_time_limit_is_said(n_rounds: int, said: str) -> None:
    condition = make_condition(700, n_rounds=n_rounds).model_copy(update={"stop": "time limit"})
    table = speed_table(panels([make_record("medformer", (condition,))]))
    assert note(table, cell(table, "medformer", "inference at 256, windows/s")) == said


def test_warnings_are_footnotes() -> None:
    record = make_record("medmamba", (make_condition(3200),), warnings=("load average 3.0",))
    assert any("load average 3.0" in one for one in speed_table(panels([record])).footnotes)


def test_ratios_stand_beside_the_published_ones() -> None:
    table = ratio_table(panels(make_session()))
    assert cell(table, "medformer", "panel 1: ADFTD, script, cpu").mean == pytest.approx(3200 / 700)
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
    one = cell(table, "medformer", "panel 1: ADFTD, script, cpu")
    assert one.is_empty
    assert note(table, one) == "no pair of timings from one session"


def test_newest_record_of_a_model_stands_for_it() -> None:
    records = [
        make_record("medmamba", (make_condition(rate),), session=session)
        for session, rate in (("2026-02-01", 2000), ("2026-01-01", 1000))
    ]
    (panel,) = panels(records)
    assert panel.throughput("medmamba") == pytest.approx(2000)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.000672, "0.000672"), (0.0000123, "0.000012"), (0.123456, "0.123"), (5.719, "5.72"), (3210.4, "3210")],
)
def test_three_digits_count(value: float, shown: str) -> None:
    assert three_digits(value) == shown


def test_report_writes_tables_figures_and_captions(tmp_path: Path) -> None:
    for record in make_session():
        write_efficiency(tmp_path, record)
    report = efficiency_report(tmp_path)
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
    assert efficiency_report(tmp_path).tables == ()


def test_panels_do_not_mix_threads() -> None:
    record = make_session()[0]
    other = record.model_copy(update={"environment": record.environment.model_copy(update={"threads": 8})})
    keys = [panel.key for panel in panels([record, other])]
    assert keys[0] == replace(keys[1], threads=keys[0].threads)
    assert {key.threads for key in keys} == {2, 8}
