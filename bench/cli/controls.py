"""What ``bench run --control`` does beside training: the table of shuffled labels, and the probe for subjects."""

from pathlib import Path

import click
from click.core import ParameterSource

from bench.cli.options import default_data, report_folder

CONTROLS = ("shuffled-labels", "subject-probe")
_OF_A_PROBE = {"control", "models", "datasets", "recipe", "data", "out"}


def show_shuffled(results: Path, out: Path | None) -> None:
    """Print the table of the cells trained on shuffled labels and write it beside the other tables."""
    from bench.analyses.contract import Shown
    from bench.cli.analysis_command import print_and_write
    from bench.report.tables.control_table import control_table
    from bench.results.store import read_all
    from bench.studies.control_scores import control_scores

    controls = control_scores(results, read_all(results)[0])
    for error in controls.damaged:
        click.echo(f"left out: {error}", err=True)
    if controls.studies:
        print_and_write(Shown([control_table(controls.studies)]), report_folder(out))


def probe_subjects(context: click.Context, results: Path) -> None:
    """Probe the cells that are done of the models and datasets asked for, as ``bench analyze subject-probe`` does.

    Raises
    ------
    UsageError
        An option is given that only training heeds.
    """
    from bench.analyses.registry import find
    from bench.analyses.runner import analyse, shown
    from bench.cli.analysis_command import print_and_write, say
    from bench.errors import UsageError

    given = [
        option
        for option in context.command.params
        if context.get_parameter_source(option.name or "") == ParameterSource.COMMANDLINE
    ]
    for option in given:
        if option.name not in _OF_A_PROBE:
            raise UsageError(
                f"{option.opts[0]}: has no effect with --control subject-probe, which trains nothing and takes all "
                "seeds that are done; leave it out"
            )
    asked = {option.name: context.params[option.name] for option in given if option.name is not None}
    analysis = find("subject-probe")
    options = {name: asked[name] for name in ("models", "datasets", "recipe") if name in asked}
    analyse(
        analysis,
        analysis.options(**options),
        out=results,
        data=asked.get("data"),
        default_data=default_data(),
        say=say,
    )
    print_and_write(shown(analysis, results, say), report_folder(asked.get("out")))
