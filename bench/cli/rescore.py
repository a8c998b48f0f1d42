"""``bench rescore``: Compute scores that records lack from saved predictions."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.options import default_results

if TYPE_CHECKING:
    from bench.results.record import Record


@click.command("rescore")
@click.argument("out", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dry-run", is_flag=True, help="Say which scores would be added; write nothing.")
def command(out: Path | None, dry_run: bool) -> None:
    """Compute the test scores of all finished cells again from their saved predictions; train nothing.

    A record that is older than a metric lacks its score: the score is added, everything else is kept. A record whose
    predictions are missing, damaged or give other scores is named and not changed; exit code 1. Validation scores are
    not changed, since only test predictions are saved. Intervals and tests need no rescoring: 'bench report' computes
    them from the predictions. OUT is the results folder. [default: $BENCH_RESULTS, else results/]

    \b
    bench rescore
    bench rescore results --dry-run
    """
    from bench.errors import RecordError
    from bench.results.store import read_all
    from bench.train.rescoring import keep, rescore

    results = out or default_results()
    records, errors = read_all(results)
    # A training that tried a configuration is done without a test.
    done = [record for record in records if record.metrics is not None]
    if not done and not errors:
        raise RecordError(f"{results}: no record of a finished cell; name a results folder")
    n_filled = 0
    for record in done:
        try:
            found = rescore(results, record)
        except RecordError as error:
            errors.append(error)
            continue
        if found.names:
            n_filled += 1
            click.echo(f"{_label(record)}: {_listed(found.names)}")
            if not dry_run:
                keep(results, found)
    for error in errors:
        click.echo(f"left: {error}", err=True)
    would = "would be " if dry_run else ""
    click.echo(f"{len(done)} finished cells, {n_filled} {would}filled, {len(errors)} left for an error")
    raise SystemExit(1 if errors else 0)


def _label(record: "Record") -> str:
    cell = record.cell
    return f"{cell.model} / {cell.dataset} / seed {cell.seed} / {cell.recipe}"


def _listed(names: tuple[str, ...]) -> str:
    """Name the scores over all classes, and count those of single classes."""
    over_all = [name for name in names if "." not in name]
    n_single = len(names) - len(over_all)
    return ", ".join([*over_all, *([f"{n_single} of single classes"] if n_single else [])])
