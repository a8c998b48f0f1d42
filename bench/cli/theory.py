"""``bench analyze theory``: the paper's propositions put to the test."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.analyses import cells_options, chosen_cells, register_own, results_folder, root_for
from bench.cli.options import report_folder

if TYPE_CHECKING:
    from bench.analyses.theory.compute import Trained


@click.command("theory")
@click.option("--datasets", help="Of the trained cells. [default: all on which the model is trained]")
@click.option(
    "--model", default="medmamba", show_default=True, help="MedMamba or a variant that mixes channels."
)
@cells_options
def command(
    datasets: str | None, model: str, data: Path | None, recipe: str | None, out: Path | None
) -> None:
    """Check the paper's five propositions numerically; print for each what was claimed, checked and found.

    The first needs trained cells; the others are checked without any.

    \b
    bench analyze theory
    bench analyze theory --datasets ptb-xl --data DIR --out results
    """
    from bench.analyses.theory.compute import run
    from bench.analyses.theory.report import theory_report, to_text
    from bench.cli.measuring import say
    from bench.render.files import write_report

    results = results_folder(out)
    record = run(results, _trained(results, model, datasets, data, recipe), say)
    click.echo(to_text(record))
    click.echo("files:")
    for path in write_report(*theory_report(results), report_folder(out)):
        click.echo(f"  {path}")


def _trained(
    results: Path, model: str, text: str | None, data: Path | None, recipe: str | None
) -> "list[Trained]":
    from bench.analyses.theory.compute import Trained
    from bench.datasets import registry
    from bench.plan.select import parse_names
    from bench.results.store import read_all

    register_own(data)
    done = {one.cell.dataset for one in read_all(results)[0] if one.is_done and one.cell.model == model}
    with_classes = registry.names(all_only=True)
    names = sorted(done) if text is None else parse_names("dataset", text, registry.names(), with_classes)
    found = [chosen_cells(results, model, name, data, recipe) for name in names]
    return [Trained(records, root_for(records, data)) for records in found]
