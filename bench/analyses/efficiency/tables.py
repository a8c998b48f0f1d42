"""The tables on efficiency: cost and speed of models, and the comparison with the paper's figure."""

from collections.abc import Sequence

from bench.analyses.efficiency.panels import Panel, describe_panels
from bench.paper import published
from bench.paper.names import OURS, in_paper_order
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.results.efficiency_record import Mode, TimedWorkload
from bench.stats.timings import summarise

MILLION, GIGA, MIB = 1e6, 1e9, 2**20
LATENCY: tuple[Mode, int] = ("inference", 1)
_LIMITS = {"time limit": "time limit", "most rounds": "largest number of rounds"}


def cost_table(found: Sequence[Panel]) -> Table:
    """Return parameters, operations, memory and time to load: one block per panel."""
    workloads = _workloads(found)
    notes = Footnotes()
    blocks = tuple(
        Block(panel.heading, tuple(_cost_row(panel, name, workloads, notes) for name in panel.records))
        for panel in found
    )
    return Table(
        name="efficiency-cost",
        title="Cost of the models",
        columns=(
            "Parameters, M",
            "in forward, M",
            "GFLOP per window",
            "load, s",
            *(f"{_short(mode)} {batch}" for mode, batch in workloads),
        ),
        groups=(("", 4), ("peak memory, MiB", len(workloads))),
        blocks=blocks,
        caption=f"{_COST_CAPTION} {describe_panels(found)}",
        footnotes=(*notes.texts, *_warnings(found)),
        unit="mixed",
        digits=3,
    )


def _cost_row(panel: Panel, name: str, workloads: Sequence[tuple[Mode, int]], notes: Footnotes) -> Row:
    record = panel.records[name]
    operations = record.operations
    cells = [
        _cell(record.parameters.total / MILLION),
        _cell(record.parameters.forward / MILLION),
        Cell() if operations is None else _cell(operations.total / GIGA),
        _cell(record.load_s),
    ]
    for mode, batch in workloads:
        condition = panel.asked(name, mode, batch)
        if condition is None or condition.memory_bytes is None:
            cells.append(Cell(note=_trouble(condition, notes)))
        else:
            note = _noted(notes, _smaller_batch(name, condition))
            cells.append(_cell(condition.memory_bytes / MIB, note=note))
    return Row(name, tuple(cells))


def speed_table(found: Sequence[Panel]) -> Table:
    """Return latency at batch 1, throughput in inference and in training: one block per panel."""
    workloads = _workloads(found)
    latency = LATENCY in workloads
    rates = [workload for workload in workloads if workload != LATENCY]
    notes = Footnotes()
    blocks = []
    for panel in found:
        rows = []
        for name in panel.records:
            cells = list(_latency_cells(panel, name, notes)) if latency else []
            cells += [_rate_cell(panel, name, mode, batch, notes) for mode, batch in rates]
            rows.append(Row(name, tuple(cells)))
        blocks.append(Block(panel.heading, tuple(rows)))
    return Table(
        name="efficiency-speed",
        title="Speed of the models",
        columns=(
            *(("latency, ms", "95th percentile, ms") if latency else ()),
            *(f"{_short(mode)} {batch}, windows/s" for mode, batch in rates),
        ),
        blocks=tuple(blocks),
        caption=f"{_SPEED_CAPTION} {describe_panels(found)}",
        footnotes=(*notes.texts, *_warnings(found)),
        unit="mixed",
        digits=3,
    )


def _latency_cells(panel: Panel, name: str, notes: Footnotes) -> tuple[Cell, Cell]:
    condition = panel.asked(name, *LATENCY)
    if condition is None or not condition.rounds:
        empty = Cell(note=_trouble(condition, notes))
        return empty, empty
    seconds = summarise(condition.rounds)
    scale = [None if bound is None else 1000 * bound for bound in (seconds.low, seconds.high)]
    note = _noted(notes, _quality(panel, name, condition))
    return _cell(1000 * seconds.median, scale[0], scale[1], note=note), _cell(1000 * seconds.p95)


def _rate_cell(panel: Panel, name: str, mode: Mode, batch: int, notes: Footnotes) -> Cell:
    condition = panel.asked(name, mode, batch)
    if condition is None or not condition.rounds or condition.batch is None:
        return Cell(note=_trouble(condition, notes))
    seconds, n = summarise(condition.rounds), condition.batch
    # The upper bound of the seconds gives the lower bound of the rate.
    low, high = (None if bound is None else n / bound for bound in (seconds.high, seconds.low))
    note = _noted(notes, _smaller_batch(name, condition), _quality(panel, name, condition))
    return _cell(n / seconds.median, low, high, note=note)


def spread_table(found: Sequence[Panel]) -> Table:
    """Return the quartiles of single runs, in percent of their median: one block per panel."""
    workloads = _workloads(found)
    notes = Footnotes()
    blocks = tuple(
        Block(
            panel.heading,
            tuple(
                Row(
                    name,
                    tuple(_spread_cell(panel.asked(name, *workload), notes) for workload in workloads),
                )
                for name in panel.records
            ),
        )
        for panel in found
    )
    return Table(
        name="efficiency-spread",
        title="Spread of the runs of a model",
        columns=tuple(f"{_short(mode)} {batch}" for mode, batch in workloads),
        blocks=blocks,
        caption=f"{_SPREAD_CAPTION} {describe_panels(found)}",
        footnotes=(*notes.texts, *_warnings(found)),
        unit="percent",
        digits=1,
    )


def _spread_cell(condition: TimedWorkload | None, notes: Footnotes) -> Cell:
    if condition is None or not condition.rounds:
        return Cell(note=_trouble(condition, notes))
    seconds = summarise(condition.rounds)
    if seconds.n_runs == 1:
        return Cell(note=notes.number("a single run has no quartiles"))
    low, high = (100 * (quartile / seconds.median - 1) for quartile in seconds.quartiles)
    return Cell(high - low, low=low, high=high, text=f"{low:+.1f} to {high:+.1f} ({seconds.n_runs})")


def ratio_table(found: Sequence[Panel]) -> Table:
    """Return MedMamba's speed over every model's, each panel a column, beside the published ratios."""
    names = in_paper_order({name for panel in found for name in panel.records})
    notes = Footnotes()
    rows = [
        Row(name, (*(_ratio_cell(panel, name, notes) for panel in found), *_published_cells(name)))
        for name in names
    ]
    return Table(
        name="efficiency-ratio",
        title="MedMamba's speed-up over each model",
        columns=(
            *(f"{panel.heading}, batch {panel.throughput_batch}" for panel in found),
            "ratio",
            "thousand windows/s",
        ),
        groups=(("measured here", len(found)), ("published, RTX 3090", 2)),
        blocks=(Block("", tuple(rows)),),
        caption=f"{_RATIO_CAPTION} {describe_panels(found)}",
        footnotes=(*notes.texts, *_warnings(found)),
        unit="times",
        digits=2,
    )


def _ratio_cell(panel: Panel, name: str, notes: Footnotes) -> Cell:
    if name not in panel.records:
        return Cell()
    ratio = panel.ratio(name)
    if ratio is None:
        return Cell(note=notes.number(_why_no_ratio(panel, name)))
    smaller = (
        _smaller_batch(model, condition)
        for model in dict.fromkeys((name, OURS))
        if (condition := panel.compared(model)) is not None
    )
    no_interval = "fewer than six common rounds: no interval" if ratio.low is None else None
    return _cell(ratio.median, ratio.low, ratio.high, note=_noted(notes, *smaller, no_interval))


def _why_no_ratio(panel: Panel, name: str) -> str:
    """Return why a model has no ratio: what its timings or MedMamba's lack, else that they are of two sessions."""
    batch = panel.throughput_batch
    workloads = (
        None if batch is None or model not in panel.records else panel.asked(model, "inference", batch)
        for model in (name, OURS)
    )
    messages = (workload.message for workload in workloads if workload is not None and not workload.rounds)
    return next(filter(None, messages), "no pair of timings from one session")


def _published_cells(name: str) -> tuple[Cell, Cell]:
    """Return the printed ratio and throughput; a range becomes its middle and half its width."""
    rates = {row.model: row for row in published.efficiency() if row.quantity == "throughput"}
    if name not in rates:
        return Cell(), Cell()
    ours, theirs = rates["medmamba"], rates[name]
    low, high = ours.low / theirs.high, ours.high / theirs.low
    return _range(low, high), _range(theirs.low, theirs.high)


def _range(low: float, high: float) -> Cell:
    text = f"{low:.1f}" if round(low, 1) == round(high, 1) else f"{low:.1f} to {high:.1f}"
    return Cell((low + high) / 2, low=low, high=high, text=text)


def _cell(
    value: float | None, low: float | None = None, high: float | None = None, *, note: int | None = None
) -> Cell:
    """Return a number with three significant digits and, if there is one, its interval in percent."""
    if value is None:
        return Cell(note=note)
    spread = ""
    if low is not None and high is not None and high > low:  # MedMamba's own ratio is 1 in every round
        spread = f" ±{max(1, round(50 * (high - low) / value))}%"
    return Cell(value, low=low, high=high, text=three_digits(value) + spread, note=note)


def three_digits(value: float) -> str:
    """Return a positive number with three significant digits, without an exponent."""
    if value == 0:
        return "0"
    if value >= 100:
        return f"{value:.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.6f}"


def _trouble(condition: TimedWorkload | None, notes: Footnotes) -> int | None:
    return None if condition is None else notes.number(condition.message)


def _noted(notes: Footnotes, *texts: str | None) -> int | None:
    """Return the number of one footnote with all texts, None if every text is empty."""
    nonempty = [text for text in texts if text]
    return notes.number("; ".join(nonempty)) if nonempty else None


def _smaller_batch(name: str, condition: TimedWorkload) -> str | None:
    if condition.batch is None or condition.batch == condition.batch_asked:
        return None
    return (
        f"{name}: batch {condition.batch}, the largest by halving {condition.batch_asked} that fits in memory"
    )


def _quality(panel: Panel, name: str, condition: TimedWorkload) -> str | None:
    """Explain why an interval is missing or wider than asked for; empty if it is narrow enough."""
    half_width = summarise(condition.rounds).half_width
    asked = panel.half_width_asked(name, condition)
    if condition.stop == "fell out":
        return f"given up after {len(condition.rounds)} rounds: {condition.message}"
    if half_width is None:
        return "stopped at the time limit with fewer than six rounds: no interval"
    if half_width <= asked:
        return None
    return f"stopped at the {_LIMITS.get(condition.stop, condition.stop)} before the interval was ±{100 * asked:g}%"


def _workloads(found: Sequence[Panel]) -> list[tuple[Mode, int]]:
    return sorted({workload for panel in found for workload in panel.workloads})


def _short(mode: Mode) -> str:
    return {"inference": "inference at", "training": "training at"}[mode]


def _warnings(found: Sequence[Panel]) -> list[str]:
    texts = {
        f"{panel.key.device_name}, {record.session}: {text}"
        for panel in found
        for record in panel.records.values()
        for text in record.warnings
    }
    return sorted(texts)


_COST_CAPTION = (
    "Parameters are trainable ones, all and those that take part in classification. Operations of one window's "
    "forward pass: products (two for a multiplication and its addition), convolutions, Fourier transforms, scans; "
    "attention in its plain form. Peak memory beyond a process without a model: on a GPU what was allocated, on a CPU "
    "the resident set, each workload in a fresh process. Load: building the model with its weights on the device. "
    "The number after inference and training is the batch."
)
_SPEED_CAPTION = (
    "Medians over rounds in which the models took turns, device synchronised, after a warm-up, random windows; a "
    "training step is forward, backward, clipping and optimiser. The percentage is half the interval of the median at "
    "95 percent from order statistics. Latency is that of batch 1, its 95th percentile over single runs. Numbers of "
    "different blocks are of different sizes or settings of the device and cannot be compared. The baselines are this "
    "package's implementations, some of them faster than the published code; no TF32."
)
_SPREAD_CAPTION = (
    "Quartiles of the time of single runs as differences from the median of rounds, in percent, and in brackets the "
    "number of runs. They show how steady the machine was; the interval of a median shows how well it is known."
)
_RATIO_CAPTION = (
    "Windows per second of MedMamba divided by those of the model in inference: above 1 MedMamba is faster. The "
    "heading of a column names the batch asked for; the published ratios are of batch 256. Median over rounds, paired; "
    "half of its 95 percent interval in percent. The baselines are this package's implementations, some of them faster "
    "than the published code."
)
