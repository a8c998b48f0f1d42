"""The measured tables of docs/efficiency.md, written between their marks from the records of finished measurements.

Run with ``python -m benchmarks.document_efficiency FIRST [--again SECOND] [--wide WIDE] [--scaling SCALING]``: results
folders of a default run, of an equal one, of one with more widths and batches, and of ``bench analyze scaling``.
Nothing is measured here; what was not measured is left as it stands, or is not shown.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tabulate import tabulate

from bench.analyses import store
from bench.analyses.efficiency.panels import Panel, panels
from bench.analyses.efficiency.tables import three_digits
from bench.analyses.registry import find
from bench.analyses.scaling.record import ScalingRecord, fit_exponent
from bench.paper.names import in_paper_order
from bench.results.efficiency_record import Mode
from bench.stats.timings import Ratio, summarise

PAGE = Path(__file__).parents[1] / "docs" / "efficiency.md"
MIB = 2**20


def main() -> int:
    """Read results folders, write two parts of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    for name in ("--again", "--wide", "--scaling"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    first = panels_of(options.first)[0]
    times = [default_table(first)]
    if options.again:
        times.append(ratio_table(first, panels_of(options.again)[0]))
    if options.wide:
        times.extend(map(wide_table, panels_of(options.wide)))
    page = replaced(PAGE.read_text(encoding="utf-8"), "measured-times", times)
    if options.scaling:
        page = replaced(
            page,
            "measured-exponents",
            [exponent_table(record) for record in store.read(options.scaling, find("scaling"))[0]],
        )
    PAGE.write_text(page, encoding="utf-8")
    return 0


def panels_of(folder: Path) -> list[Panel]:
    """Return the panels of a results folder; at least one."""
    found = panels(store.read(folder, find("efficiency"))[0])
    if not found:
        raise SystemExit(f"{folder}: no efficiency record; run 'bench efficiency --out {folder}'")
    return found


def replaced(page: str, name: str, parts: Iterable[str]) -> str:
    """Put new text between two marks."""
    pattern = re.compile(rf"(<!-- {name}: begin\b.*?-->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    text = "\n\n".join(parts) + "\n"
    found, n = pattern.subn(lambda match: match[1] + text + match[2], page)
    if n != 1:
        raise SystemExit(f"{PAGE}: no marks '{name}'")
    return found


def default_table(panel: Panel) -> str:
    """Return latency, speed and memory of the default measurement."""
    heads = ["model", "latency, ms", "inference at 256, windows/s", "training at 32, windows/s"]
    heads += ["times as fast MedMamba is at 256", "MiB, inference at 256", "MiB, training at 32"]
    rows = [
        [
            name,
            time_cell(panel, name, "inference", 1),
            rate_cell(panel, name, "inference", 256),
            rate_cell(panel, name, "training", 32),
            "-" if (ratio := panel.ratio(name)) is None else ratio_text(ratio),
            memory_cell(panel, name, "inference", 256),
            memory_cell(panel, name, "training", 32),
        ]
        for name in panel.records
    ]
    return f"{described(panel)}\n\n{table(heads, rows)}"


def ratio_table(first: Panel, second: Panel) -> str:
    """Return MedMamba's speed over each model's in two runs of the same command, and how far they lie apart."""
    rows = []
    for name in first.records:
        in_first, in_second = first.ratio(name), second.ratio(name)
        if in_first is not None and in_second is not None:
            apart = f"{100 * abs(in_second.median / in_first.median - 1):.0f} %"
            rows.append([name, ratio_text(in_first), ratio_text(in_second), apart])
    title = "MedMamba's speed-up over each model in inference at 256, in two runs of the same command:"
    return f"{title}\n\n{table(['model', 'first run', 'second run', 'apart'], rows)}"


def wide_table(panel: Panel) -> str:
    """Return the speed at every batch of one width."""
    workloads = panel.workloads
    heads = ["model", "M parameters", *(f"{mode} at {batch}, windows/s" for mode, batch in workloads)]
    rows = [
        [
            name,
            f"{record.parameters.total / 1e6:.2f}",
            *(rate_cell(panel, name, mode, batch) for mode, batch in workloads),
        ]
        for name, record in panel.records.items()
    ]
    return f"{described(panel)}\n\n{table(heads, rows)}"


def exponent_table(record: ScalingRecord) -> str:
    """Return the fitted exponents with their standard errors."""
    rows = []
    curves = {curve.model: curve for curve in record.curves}
    for curve in (curves[model] for model in in_paper_order(curves)):
        fits = [fit_exponent(curve, quantity) for quantity in ("operations", "seconds", "memory")]
        rows.append([curve.model, *("-" if f is None else f"{f.value:.2f} ± {f.error:.2f}" for f in fits)])
    place = record.environment
    title = (
        f"Exponents at batch {record.batch} on {place.device_name} ({place.device}, {place.threads} threads), "
        f"{record.session[:10]}:"
    )
    return f"{title}\n\n{table(['model', 'operations', 'time', 'memory'], rows)}"


def described(panel: Panel) -> str:
    """Describe the contents of a table, and when they were measured."""
    sessions = sorted({record.session[:10] for record in panel.records.values()})
    warnings = sorted({text for record in panel.records.values() for text in record.warnings})
    noted = f" Noted meanwhile: {'; '.join(warnings)}." if warnings else ""
    return f"{panel.description}; {', '.join(sessions)}.{noted}"


def time_cell(panel: Panel, name: str, mode: Mode, batch: int) -> str:
    """Return the milliseconds of one run."""
    found = panel.condition(name, mode, batch)
    if found is None:
        return "-"
    seconds = summarise(found.rounds)
    return f"{1000 * seconds.median:.3g}{spread(seconds.half_width)}"


def rate_cell(panel: Panel, name: str, mode: Mode, batch: int) -> str:
    """Return windows per second."""
    found = panel.condition(name, mode, batch)
    if found is None or found.batch is None:
        return "-"
    seconds = summarise(found.rounds)
    smaller = f" (batch {found.batch})" if found.batch != batch else ""
    return f"{three_digits(found.batch / seconds.median)}{spread(seconds.half_width)}{smaller}"


def memory_cell(panel: Panel, name: str, mode: Mode, batch: int) -> str:
    """Return the peak beyond a process without a model."""
    found = panel.asked(name, mode, batch)
    return "-" if found is None or found.memory_bytes is None else f"{found.memory_bytes / MIB:,.0f}"


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio with half its interval."""
    if ratio.low is None or ratio.high is None:
        rounds = "1 round" if ratio.n_rounds == 1 else f"{ratio.n_rounds} rounds"
        return f"{ratio.median:.3g} ({rounds})"
    return f"{ratio.median:.3g}{spread((ratio.high - ratio.low) / 2 / ratio.median)}"


def spread(half_width: float | None) -> str:
    """Return half an interval in percent; empty without an interval or with one of no width."""
    return "" if not half_width else f" ±{max(1, round(100 * half_width))} %"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    align = ("left", *("right" for _ in heads[1:]))
    return tabulate(rows, heads, tablefmt="pipe", colalign=align, disable_numparse=True)


if __name__ == "__main__":
    sys.exit(main())
