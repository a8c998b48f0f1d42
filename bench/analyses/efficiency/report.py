"""The report on efficiency: tables and figures of a results folder's efficiency records."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.analyses.contract import Shown
from bench.analyses.efficiency.figure import efficiency_figure
from bench.analyses.efficiency.panels import Panel, panels
from bench.analyses.efficiency.tables import cost_table, ratio_table, speed_table, spread_table
from bench.render.table import Table
from bench.results.efficiency_record import EfficiencyRecord
from bench.results.store import read_all


def report(out: Path, records: Sequence[EfficiencyRecord]) -> Shown:
    """Return tables of costs and ratios, and a figure for each panel with the scores of the folder's cells."""
    found = panels(records)
    cells, _ = read_all(out)
    figures = [
        efficiency_figure(panel, cells, name) for panel, name in zip(found, _names(found), strict=True)
    ]
    return Shown(
        [*_tables_by_device(found), ratio_table(found)], [figure for figure in figures if figure is not None]
    )


def _tables_by_device(found: Sequence[Panel]) -> list[Table]:
    """Return the tables of absolute numbers, separate ones for each device, since devices share no column."""
    devices = list(dict.fromkeys(panel.key.device_label for panel in found))
    tables = []
    for number, device in enumerate(devices, start=1):
        there = [panel for panel in found if panel.key.device_label == device]
        suffix = "" if len(devices) == 1 else f"-{device[0]}-{number}"
        for make in (cost_table, speed_table, spread_table):
            table = make(there)
            title = table.title if len(devices) == 1 else f"{table.title}: {device[1]}"
            tables.append(replace(table, name=f"{table.name}{suffix}", title=title))
    return tables


def _names(found: Sequence[Panel]) -> list[str]:
    """Return a file name for the figure of each panel; equal names are numbered."""
    names = [f"efficiency-{panel.key.task.dataset}-{panel.key.width}-{panel.key.device}" for panel in found]
    return [
        name if names.count(name) == 1 else f"{name}-{names[: position + 1].count(name)}"
        for position, name in enumerate(names)
    ]
