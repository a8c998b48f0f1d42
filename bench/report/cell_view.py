"""Everything known of one cell: settings with their origin, history, log, environment, key."""

import json
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from bench.paper.names import short_name
from bench.render.formats import number
from bench.render.svg import sparkline
from bench.render.table import Cell
from bench.report.commands import command_of
from bench.results.metrics import METRICS
from bench.results.record import Record
from bench.results.store import CellFolder

LOG_LINES, LOG_COLUMNS = 15, 240
# A log may be of any size; its last lines are within this.
_LOG_BYTES = 2**18


@dataclass(frozen=True)
class CellView:
    """The parts of one record on the page; texts are as recorded, not escaped."""

    record: Record
    title: str
    score: str
    scores: tuple[tuple[str, str, str], ...]
    settings: tuple[tuple[str, str, str], ...]
    history: str
    curve: Markup
    log: str
    command: str


def cell_view(out: Path, record: Record) -> CellView:
    """Return the view of one record."""
    cell = record.cell
    score = f"F1 {100 * record.metrics.test.f1:.2f}" if record.metrics else record.outcome
    return CellView(
        record=record,
        title=f"{cell.model} / {short_name(cell.dataset)} / seed {cell.seed} / {cell.recipe}",
        score=score,
        scores=_scores(record),
        settings=_settings(record),
        history=_history(record),
        curve=sparkline(
            [
                [epoch.train_loss for epoch in record.history],
                [epoch.val_loss for epoch in record.history],
                [epoch.val_f1 for epoch in record.history],
            ],
            ["ink", "orange", "blue"],
        ),
        log=log_tail(out, record),
        command=command_of(record),
    )


def log_tail(out: Path, record: Record) -> str:
    """Return the last lines of a cell's log; an empty text if it has no log."""
    path = CellFolder.of(out, record.cell, record.key).log
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOG_BYTES))
        lines = file.read(_LOG_BYTES).decode(errors="replace").splitlines()
    return "\n".join(line[:LOG_COLUMNS] for line in lines[-LOG_LINES:])


def _scores(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return name, validation and test of every score, in percent; empty where the cell has none."""
    if record.metrics is None:
        return ()
    val, test = record.metrics.val, record.metrics.test
    return tuple(
        (title, _percent(getattr(val, metric)), _percent(getattr(test, metric)))
        for metric, title in METRICS.items()
    )


def _percent(share: float | None) -> str:
    return number(Cell(None if share is None else 100 * share), 2)


def _settings(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return name, value and origin of every setting."""
    settings = record.settings
    return tuple(
        (name, json.dumps(value, ensure_ascii=False), settings["origins"].get(name, ""))
        for part in ("training", "hyperparameters", "data")
        for name, value in settings[part].items()
    )


def _history(record: Record) -> str:
    """Summarise the training in one line."""
    if not record.history:
        return ""
    last = record.history[-1]
    seconds = sum(epoch.seconds for epoch in record.history)
    best = next((epoch for epoch in record.history if epoch.epoch == record.best_epoch), last)
    return (
        f"{len(record.history)} epochs in {seconds:.0f} s; best validation F1 {100 * best.val_f1:.2f} % in epoch "
        f"{best.epoch}; last training loss {last.train_loss:.4f}, validation loss {last.val_loss:.4f}"
    )
