"""The report on MedMamba's time scales: the response of each, beside the paper's description, and its worth in F1."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.analyses.contract import Shown
from bench.analyses.scales.figure import draw
from bench.analyses.scales.record import BranchCell, ScalesRecord
from bench.paper.names import short_name
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Row, Table
from bench.stats.summary import DDOF, over_seeds
from bench.studies import kinds
from bench.studies.chance import majority_scores, stratified_scores

PAPER_DATASET = "adftd"
PAPER_WORDS = {5: ("beta",), 10: ("theta", "alpha"), 25: ("theta", "alpha")}
"""Bands that the paper's section on the ablation ascribes to each stride, on EEG."""

PREFERENCE = 1.1
"""Our choice: kernels prefer a band when their gain in it is ten percent above that of white kernels."""


def report(_out: Path, records: Sequence[ScalesRecord]) -> Shown:
    """Return three tables and a figure for each model on each dataset."""
    tables = [table for record in records for table in scales_tables(record)]
    return Shown(tables, [scales_figure(record) for record in records])


def scales_tables(record: ScalesRecord) -> list[Table]:
    """Return the tables of a record: response, energy, worth."""
    return [gain_table(record), energy_table(record), worth_table(record)]


def gain_table(record: ScalesRecord) -> Table:
    """Return kernel length, resolution and response per band of every branch."""
    rows = []
    for number, stride in enumerate(record.strides):
        rate = record.sampling_rate_hz
        facts = [f"{1000 * stride / rate:.4g} ms", f"{rate / stride:.3g} Hz", f"{rate / stride / 2:.3g} Hz"]
        cells = [Cell(text=text) for text in facts]
        cells += [
            _over_cells(record, number, lambda branch, b=band: b.mean(branch.gain, record.frequencies_hz))
            for band in record.bands
        ]
        cells.append(Cell(text=preferred(record, number) or "none"))
        rows.append(Row(f"stride {stride}", tuple(cells)))
    return Table(
        name=f"scales-gain-{_stem(record)}",
        title=f"{_title(record)}: what the kernels of each branch respond to",
        columns=("kernel", "resolution", "token limit", *(band.name for band in record.bands), "preferred"),
        blocks=(Block("", tuple(rows)),),
        caption=(
            "Mean squared response of the learned kernels in each band, relative to their mean over all frequencies: "
            f"1 is a kernel without structure, as before training. {verdict(record)} {_seeds(record)}"
        ),
        corner="Branch",
        groups=(("", 3), ("response in the band", len(record.bands)), ("", 1)),
        unit="gain",
    )  # fmt: skip


def energy_table(record: ScalesRecord) -> Table:
    """Return the share of each band in the energy of every branch's kernels on test windows."""
    rows = tuple(
        Row(
            f"stride {stride}",
            tuple(
                _over_cells(record, number, lambda branch, b=band: 100 * b.total(branch.energy, record.frequencies_hz))
                for band in record.bands
            ),
        )
        for number, stride in enumerate(record.strides)
    )  # fmt: skip
    return Table(
        name=f"scales-energy-{_stem(record)}",
        title=f"{_title(record)}: which bands bring the energy of each branch",
        columns=tuple(f"{band.name}{_hertz(record, number)}" for number, band in enumerate(record.bands)),
        blocks=(Block("", rows),),
        caption=(
            "Share of each band in the energy that the kernels give on test windows, in percent: what the signal has "
            f"and the kernels pass on. {_seeds(record)}"
        ),
        corner="Branch",
    )


def worth_table(record: ScalesRecord) -> Table:
    """Return macro F1 without each branch and with each alone."""
    full = _over([100 * cell.f1 for cell in record.cells])
    rows = [Row("all branches", (full, Cell()))]
    for title, value in (("without", _without), ("only", _alone)):
        for number, stride in enumerate(record.strides):
            values = [100 * value(cell.branches[number]) for cell in record.cells]
            losses = [percent - 100 * cell.f1 for percent, cell in zip(values, record.cells, strict=True)]
            rows.append(Row(f"{title} stride {stride}", (_over(values), _over(losses))))
    guesses = (
        ("most frequent class", majority_scores(record.windows_per_class)["f1"]),
        ("proportional guess", stratified_scores(record.windows_per_class)["f1"]),
    )
    chance = tuple(Row(label, (Cell(100 * score), Cell())) for label, score in guesses)
    return Table(
        name=f"scales-worth-{_stem(record)}",
        title=f"{_title(record)}: macro F1 without each branch",
        columns=("macro F1", "difference"),
        blocks=(Block("measured", tuple(rows)), Block("chance on these windows", chance)),
        caption=(
            "Macro F1 in percent when branches are silenced, and the seed-wise difference to all branches in points. "
            "A silenced branch gives its mean vector for every window; nothing is trained again, so this shows "
            f"how much the trained model relies on a branch, not what the branch could do. {_seeds(record)}"
        ),
        corner="Branches",
    )


def scales_figure(record: ScalesRecord) -> Figure:
    """Return the figure of a record."""
    words = "; ".join(
        f"stride {stride}: {preferred(record, number) or 'no band preferred'}"
        for number, stride in enumerate(record.strides)
    )
    return Figure(
        name=f"scales-{_stem(record)}",
        title=f"{_title(record)}: what the scales respond to",
        caption=(
            "Left: squared response of each branch's kernels, mean and standard deviation over seeds; dotted verticals "
            "are the fastest rhythms that the branch's tokens can follow. Middle: share of each band in the energy on "
            f"test windows. Right: macro F1 without each branch, and with it alone. {verdict(record)} {_seeds(record)}"
        ),
        alt=f"Three panels: frequency response, energy by band, macro F1 with branches silenced. {words}.",
        draw=partial(draw, record),
        stamp=kinds.data_stamp(short_name(record.about.dataset), record.about.data),
    )


def preferred(record: ScalesRecord, number: int) -> str:
    """Return the band that a branch responds to most, an empty text if it prefers none.

    A preference is a mean of at least `PREFERENCE` that is more than a standard deviation over seeds above 1.
    """
    gains: dict[str, tuple[float, float | None]] = {}
    for band in record.bands:
        over = over_seeds(
            [band.mean(cell.branches[number].gain, record.frequencies_hz) for cell in record.cells]
        )
        if over is not None:
            gains[band.name] = over
    best = max(gains, key=lambda name: gains[name][0])
    mean, deviation = gains[best]
    return best if mean >= PREFERENCE and mean - (deviation or 0.0) > 1 else ""


def verdict(record: ScalesRecord) -> str:
    """Return, as sentences, whether the paper's description of each stride was found."""
    if record.about.dataset != PAPER_DATASET:
        return "What the paper says of bands is about the EEG of ADFTD at 256 Hz; these data are different."
    if not any(stride in PAPER_WORDS for stride in record.strides):
        return "The paper does not mention these strides."
    agree, differ = [], []
    for number, stride in enumerate(record.strides):
        words = PAPER_WORDS.get(stride)
        if words is None:
            continue
        found = preferred(record, number)
        sentence = f"stride {stride}: {' or '.join(words)} stated, {found or 'none preferred'} found"
        (agree if found in words else differ).append(sentence)
    whether = "does not hold here" if differ else "holds here"
    where = ", on SIMULATED data" if record.about.data.kind == "simulated" else ""
    rate = record.sampling_rate_hz
    limits = ", ".join(f"{rate / stride / 2:.3g} (stride {stride})" for stride in record.strides)
    return (
        f"What the paper says of bands {whether}{where} ({'; '.join([*differ, *agree])}). The longest kernel separates "
        f"frequencies that are at least {rate / max(record.strides):.3g} Hz apart. Tokens follow rhythms up to "
        f"{limits} Hz; faster ones fold onto slower ones."
    )


def _without(branch: BranchCell) -> float:
    return branch.f1_without


def _alone(branch: BranchCell) -> float:
    return branch.f1_alone


def _over_cells(record: ScalesRecord, number: int, value: Callable[[BranchCell], float | None]) -> Cell:
    return _over([value(cell.branches[number]) for cell in record.cells])


def _over(values: Sequence[float | None]) -> Cell:
    found = over_seeds(values)
    return Cell() if found is None else Cell(*found)


def _hertz(record: ScalesRecord, number: int) -> str:
    """Return the ends of a band; empty for ranges without a name, whose label holds them."""
    band = record.bands[number]
    return f" ({band.low_hz:.3g} to {band.high_hz:.3g} Hz)" if record.is_eeg else ""


def _stem(record: ScalesRecord) -> str:
    about = record.about
    return about.dataset if about.model == "medmamba" else f"{about.model}-{about.dataset}"


def _title(record: ScalesRecord) -> str:
    return f"{record.about.model} on {short_name(record.about.dataset)}"


def _seeds(record: ScalesRecord) -> str:
    about = record.about
    drawn = (
        f", drawn by class from {record.n_windows_of_part}"
        if record.n_windows < record.n_windows_of_part
        else ""
    )
    changed = f", changed: {about.changes}" if about.changes else ""
    return (
        f"Mean and sample standard deviation (ddof {DDOF}) over seeds {', '.join(map(str, about.seeds))}; "
        f"{record.n_windows} test windows{drawn}. Data: {kinds.sentence(about.data)} ({about.data.version}). "
        f"Recipe: {about.recipe}{changed}."
    )
