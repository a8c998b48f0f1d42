"""The group of commands; each is imported only when it is called, so that ``bench --help`` is instant.

A command is a file beside this one that begins with its name and the line that ``bench --help`` shows, and has a
``command``.
"""

import importlib
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click

from bench import __version__
from bench.cli.options import SuggestingGroup
from bench.errors import BenchError
from bench.files import refused
from bench.machine import require_unix

_FIRST_LINE = re.compile(r'"""``bench (?P<name>[a-z-]+)``: (?P<help>.*)"""')
_FIRST = (
    "run",
    "plan",
    "status",
    "report",
    "efficiency",
    "analyze",
    "compare",
    "rescore",
    "pack",
    "clean",
    "list",
    "data",
)
"""What is listed first, in this order; the others follow by name."""
_HIDDEN = ("cell",)


class _Entry(NamedTuple):
    module: str
    help: str


@cache
def commands() -> dict[str, _Entry]:
    """Return every command by name, in the order of the help, from the first lines of the files beside this one."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        with path.open(encoding="utf-8") as file:
            match = _FIRST_LINE.match(file.readline())
        if match:
            found[match["name"]] = _Entry(f"bench.cli.{path.stem}", match["help"])
    order = [
        *(name for name in _FIRST if name in found),
        *(name for name in sorted(found) if name not in _FIRST),
    ]
    return {name: found[name] for name in order}


class LazyGroup(SuggestingGroup):
    """A group that knows its commands by name and shows errors of `BenchError` as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help, without those that are not for users."""
        return [name for name in commands() if name not in _HIDDEN]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        entry = commands().get(cmd_name)
        return None if entry is None else importlib.import_module(entry.module).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, commands()[name].help) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a user's error becomes one line and its exit code."""
        try:
            require_unix()
            # A notebook's choice of how matplotlib draws, which need not be installed here; ours is each figure's own.
            os.environ.pop("MPLBACKEND", None)
            return super().invoke(ctx)
        except BenchError as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"error: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            refusal = refused(error)
            if refusal is None or ctx.params.get("debug"):
                raise
            click.echo(f"error: {refusal}", err=True)
            ctx.exit(refusal.exit_code)
        except KeyboardInterrupt:
            click.echo(
                "interrupted: finished cells and epochs are kept; run the same command to continue", err=True
            )
            ctx.exit(130)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="bench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Benchmark MedMamba, eleven transformers and further baselines on medical time series.

    \b
    bench run --preset demo                              small models on simulated data, minutes
    bench run --models all --datasets all --data DIR     the paper's whole grid
    bench run --models medmamba,transformer --datasets ptb-xl --seeds 41 --set epochs=20
    bench report --out results

    Exit code: 0 all done, 1 some cell failed, 2 bad input or usage, 130 interrupted.
    """
