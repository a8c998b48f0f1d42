"""Three panels on the branches of MedMamba: response by frequency, energy by band, worth of each."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.analyses.scales.record import BranchCell, ScalesRecord
from bench.render import style
from bench.stats.summary import over_seeds

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
_LINES = ("-", "--", "-.", ":")


def draw(record: ScalesRecord) -> "matplotlib.figure.Figure":
    """Draw a record."""
    figure = style.new_figure(style.PAGE_IN, 2.7)
    gain, energy, worth = figure.subplots(1, 3, width_ratios=(1.3, 1.2, 1))
    for number, stride in enumerate(record.strides):
        _draw_gain(gain, record, number, stride)
        _draw_energy(energy, record, number)
    gain.axhline(1, color=style.FAINT, linewidth=0.8)
    gain.set_xlim(0, _shown_hz(record))
    gain.set_ylim(bottom=0)
    gain.set_xlabel("frequency (Hz)")
    gain.set_title("response of the kernels (1: no structure)")
    energy.set_xticks(range(len(record.bands)), [band.name for band in record.bands], rotation=30, ha="right")
    energy.set_title("energy on test windows (percent)")
    energy.grid(axis="x", visible=False)
    _draw_worth(worth, record)
    figure.legend(loc="outside lower center", ncols=len(record.strides) + 3)
    return figure


def _shown_hz(record: ScalesRecord) -> float:
    """Return the end of the axis in hertz: 60 for EEG, whose rhythms are slow, else half the sampling rate."""
    half = record.frequencies_hz[-1]
    return min(60.0, half) if record.is_eeg else half


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _draw_gain(axes: "Axes", record: ScalesRecord, number: int, stride: int) -> None:
    bins = [
        over_seeds([cell.branches[number].gain[position] for cell in record.cells])
        for position in range(len(record.frequencies_hz))
    ]
    means = [gain[0] for gain in bins if gain]
    deviations = [gain[1] or 0.0 for gain in bins if gain]
    axes.plot(
        record.frequencies_hz,
        means,
        label=f"stride {stride}",
        color=_colour(number),
        linestyle=_LINES[number % len(_LINES)],
    )
    low = [mean - deviation for mean, deviation in zip(means, deviations, strict=True)]
    high = [mean + deviation for mean, deviation in zip(means, deviations, strict=True)]
    axes.fill_between(record.frequencies_hz, low, high, color=_colour(number), alpha=0.15, linewidth=0)
    axes.axvline(record.sampling_rate_hz / stride / 2, color=_colour(number), linewidth=0.8, linestyle=":")


def _draw_energy(axes: "Axes", record: ScalesRecord, number: int) -> None:
    width = 0.8 / len(record.strides)
    shift = (number - (len(record.strides) - 1) / 2) * width
    for position, band in enumerate(record.bands):
        shares = [
            100 * band.total(cell.branches[number].energy, record.frequencies_hz) for cell in record.cells
        ]
        found = over_seeds(shares)
        if found:
            axes.bar(
                position + shift,
                found[0],
                width,
                yerr=found[1],
                color=_colour(number),
                error_kw={"elinewidth": 0.8},
            )


def _draw_worth(axes: "Axes", record: ScalesRecord) -> None:
    """Draw F1 without each branch (filled) and with each alone (hollow); the line is the untouched model."""
    full = over_seeds([100 * cell.f1 for cell in record.cells])
    if full:
        axes.axhline(full[0], color=style.INK, linewidth=0.9, linestyle="--", label="all branches")
    kinds: tuple[tuple[float, str, Callable[[BranchCell], float]], ...] = (
        (-0.12, "full", lambda branch: branch.f1_without),
        (0.12, "none", lambda branch: branch.f1_alone),
    )
    for number in range(len(record.strides)):
        for shift, fill, value in kinds:
            found = over_seeds([100 * value(cell.branches[number]) for cell in record.cells])
            if found:
                place, colour = number + shift, _colour(number)
                axes.errorbar(
                    place, found[0], yerr=found[1], fmt="o", color=colour, fillstyle=fill, elinewidth=0.9
                )
    axes.set_xticks(range(len(record.strides)), [str(stride) for stride in record.strides])
    axes.set_xlim(-0.5, len(record.strides) - 0.5)
    axes.set_xlabel("stride of the branch")
    axes.set_title("macro F1, branches silenced")
    for label, fill in (("all but it", "full"), ("only it", "none")):
        axes.plot([], [], "o", color=style.FAINT, fillstyle=fill, label=label)
    axes.grid(axis="x", visible=False)
