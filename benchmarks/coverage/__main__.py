"""Error rates of intervals and verdicts where the truth is known: ``python -m benchmarks.coverage [--write]``.

Prints the tables, progress on stderr; --write puts them into docs/statistics.md. Fails when an interval of the first
settings, which are central, holds the truth in less than 93 or more than 97 % of the studies, or a verdict is wrong in
more than 5 %, beyond three standard errors of the simulation.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.stats.verdict import Decision
from benchmarks.coverage.intervals import (
    METHODS,
    RANKINGS,
    Held,
    coverage,
    ranking_coverage,
)
from benchmarks.coverage.settings import CENTRAL, SETTINGS
from benchmarks.coverage.verdicts import OTHER_SUBJECTS, SCENARIOS, Rates, Scenario, rates

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
MOST_WRONG = 0.05


def main() -> int:
    """Simulate, print, and tell by the exit code whether the rates are as promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="of each setting")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/statistics.md")
    options = parser.parse_args()
    held = intervals(options.studies)
    here = verdicts(SCENARIOS, 2 * options.studies)
    elsewhere = verdicts(OTHER_SUBJECTS, options.studies)
    tables = {
        "coverage": [coverage_table(held)],
        "verdicts": [
            "Claims about these very subjects, only seeds vary:",
            verdict_table(here),
            "Claims about other subjects, subjects and seeds vary (18 subjects; the last five: 61):",
            verdict_table(elsewhere),
        ],
    }
    for parts in tables.values():
        print("\n\n".join(parts), end="\n\n")
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        for name, parts in tables.items():
            page = replaced(page, name, parts)
        PAGE.write_text(page, encoding="utf-8")
    failures = [*failed_intervals(held), *failed_verdicts([*here, *elsewhere])]
    for failure in failures:
        print(failure, file=sys.stderr)
    return int(bool(failures))


def intervals(n_studies: int) -> list[Held]:
    """Simulate the coverage of all settings, each by its own generator."""
    found = []
    for number, setting in enumerate(SETTINGS):
        for metric in ("accuracy", "f1") if number < CENTRAL else ("f1",):
            tell(f"{setting.name}, {metric}")
            found.extend(coverage(setting, metric, n_studies, np.random.default_rng(number)))
    for setting in RANKINGS:
        tell(f"{setting.name}, auroc")
        found.extend(ranking_coverage(setting, n_studies, np.random.default_rng(0)))
    return found


def verdicts(scenarios: Sequence[Scenario], n_studies: int) -> list[Rates]:
    """Simulate the verdicts on all claims, each by its own generator."""
    found = []
    for number, scenario in enumerate(scenarios):
        tell(f"{scenario.claim}: {scenario.truth}")
        found.append(rates(scenario, n_studies, np.random.default_rng(number)))
    return found


def coverage_table(held: Iterable[Held]) -> str:
    """Return a row per setting and metric, a column per method and kind, in percent."""
    rows: dict[tuple[str, str], list[str]] = {}
    for interval in held:
        row = rows.setdefault((interval.setting, interval.metric), [])
        row.extend("-" if share is None else f"{100 * share:.1f}" for share in interval.shares)
    errors = {
        (interval.setting, interval.metric): 100 * sqrt(0.05 * 0.95 / interval.n_studies) for interval in held
    }
    heads = [f"{what}: {method}" for what in ("score", "difference") for method in METHODS]
    body = [[*key, *cells, f"{errors[key]:.1f}"] for key, cells in rows.items()]
    return tabulate(body, ["setting", "metric", *heads, "+-"], tablefmt="github", disable_numparse=True)


def verdict_table(found: Iterable[Rates]) -> str:
    """Return a row per claim and truth: supported and contradicted before and by intervals, wrong ones marked."""
    body = []
    for claim in found:
        cells = [
            f"**{100 * share:.1f}**" if decision in claim.scenario.wrong else f"{100 * share:.1f}"
            for shares in (claim.before, claim.by_intervals)
            for decision, share in zip((Decision.SUPPORTED, Decision.CONTRADICTED), shares, strict=True)
        ]
        body.append([claim.scenario.claim, claim.scenario.truth, *cells])
    heads = ("supported before", "contradicted before", "supported", "contradicted")
    return tabulate(body, ["claim", "what is so", *heads], tablefmt="github", disable_numparse=True)


def failed_intervals(held: Iterable[Held]) -> list[str]:
    """List the central intervals that hold the truth too seldom or too often."""
    central = {setting.name for setting in SETTINGS[:CENTRAL]}
    found = []
    for interval in held:
        share = interval.shares[-1]
        if interval.setting not in central or share is None:
            continue
        slack = 3 * interval.error(share)
        if not 0.93 - slack <= share <= 0.97 + slack:
            found.append(
                f"{interval.setting}, {interval.metric}, {interval.what}: {100 * share:.1f} % hold the truth"
            )
    return found


def failed_verdicts(found: Iterable[Rates]) -> list[str]:
    """List the verdicts that are wrong too often."""
    failures = []
    for claim in found:
        slack = 3 * sqrt(MOST_WRONG * (1 - MOST_WRONG) / claim.n_studies)
        for decision, share in zip(
            (Decision.SUPPORTED, Decision.CONTRADICTED), claim.by_intervals, strict=True
        ):
            if decision in claim.scenario.wrong and share > MOST_WRONG + slack:
                failures.append(
                    f"{claim.scenario.claim}, {claim.scenario.truth}: {100 * share:.1f} % {decision}"
                )
    return failures


def replaced(page: str, name: str, parts: Iterable[str]) -> str:
    """Put new text between two marks."""
    pattern = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    text = "\n\n".join(parts) + "\n"
    found, n = pattern.subn(lambda match: match[1] + text + match[2], page)
    if n != 1:
        raise SystemExit(f"{PAGE}: {n} parts between the marks '{name}', expected one")
    return found


_STARTED = time.monotonic()


def tell(text: str) -> None:
    """Say on stderr what is simulated next."""
    print(f"{time.monotonic() - _STARTED:6.0f} s  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
