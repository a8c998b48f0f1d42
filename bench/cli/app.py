"""The group of commands; each is imported only when it is called, so that ``bench --help`` is instant."""

import importlib
from typing import Any

import click

from bench import __version__
from bench.errors import BenchError

# Command -> module and the line that `bench --help` shows.
COMMANDS = {
    "run": ("bench.cli.run", "Train the cells of a grid that are not done, then report."),
    "plan": ("bench.cli.plan", "Predict time and memory of a grid from short measurements."),
    "status": ("bench.cli.status", "Show what is done, running, failed and to do."),
    "report": ("bench.cli.report", "Render tables, figures and a page from records."),
    "efficiency": ("bench.cli.efficiency", "Measure parameters, operations, speed and memory of models."),
    "analyze": ("bench.cli.analyze", "Analyses beside the table of results."),
    "compare": ("bench.cli.compare", "Show what differs between two sets of results."),
    "pack": ("bench.cli.pack", "Pack records, predictions and report into one archive."),
    "clean": ("bench.cli.clean", "Remove records by outcome, model or dataset; asks first."),
    "list": ("bench.cli.listing", "Show models, datasets, presets, recipes or settings."),
    "data": ("bench.cli.data", "Prepare, verify, fetch, simulate, import, export or clean up datasets."),
    "explain": ("bench.cli.explain", "Show what a cell's key is made of, and where each value comes from."),
    "evaluate": ("bench.cli.evaluate", "Test a checkpoint of the published code on a dataset."),
    "check-model": ("bench.cli.check_model", "Run the conformance battery on a model of your own."),
    "doctor": ("bench.cli.doctor", "Show device, scan backend, versions, threads and data found."),
}


# Started by torchrun (docs/grid.md), not by hand.
HIDDEN = {"cell": "bench.cli.cell"}


class LazyGroup(click.Group):
    """A group that knows its commands by name and shows errors of `BenchError` as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        module = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else HIDDEN.get(cmd_name)
        return None if module is None else importlib.import_module(module).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a user's error becomes one line and its exit code."""
        try:
            return super().invoke(ctx)
        except BenchError as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"error: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("interrupted; finished cells are kept, run the same command to go on", err=True)
            ctx.exit(130)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="bench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Benchmark MedMamba and eleven transformers on medical time series, reproducibly.

    \b
    bench run --preset demo                              minutes, simulated data
    bench run --models all --datasets all --data DIR     the whole protocol
    bench run --models medmamba,transformer --datasets ptb-xl --seeds 41 --set epochs=20
    bench report --out results

    Exit code: 0 all done, 1 some cell failed, 2 bad input or usage, 130 interrupted.
    """
