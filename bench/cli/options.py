"""Options that several commands share."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.errors import UsageError, unknown_name

Function = TypeVar("Function", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A number within bounds that is neither infinite nor none at all."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class SuggestingGroup(click.Group):
    """A group that offers the nearest of its commands for one that it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and remaining words.

        Raises
        ------
        UsageError
            There is no such command.
        """
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise self.unknown_command(ctx, args[0])
        return super().resolve_command(ctx, args)

    def unknown_command(self, ctx: click.Context, name: str) -> UsageError:
        """Return the error for a command that this group does not have."""
        return unknown_name(f"{ctx.command_path} command", name, self.list_commands(ctx))


def default_data() -> Path:
    """Return where datasets are looked for: BENCH_DATA, else a folder of the user's cache."""
    from platformdirs import user_cache_path

    return Path(os.environ.get("BENCH_DATA") or user_cache_path("medmamba-bench") / "data")


def default_results() -> Path:
    """Return where records go: BENCH_RESULTS, else ``results`` in the current folder."""
    return Path(os.environ.get("BENCH_RESULTS") or "results")


def report_folder(out: Path | None) -> Path:
    """Return where a report goes: beside its records when ``--out`` is given, else ``reports/latest``."""
    return out / "report" if out is not None else Path("reports") / "latest"


def data_option(function: Function) -> Function:
    """Add ``--data DIR``."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder with one sub-folder per dataset. [default: $BENCH_DATA, else the user's cache folder]",
    )(function)


def out_option(function: Function) -> Function:
    """Add ``--out DIR``."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        help="Results folder. [default: $BENCH_RESULTS, else results/]",
    )(function)


def device_option(function: Function) -> Function:
    """Add ``--device``."""
    return click.option(
        "--device",
        type=click.Choice(["auto", "cpu", "cuda"]),
        default="auto",
        show_default=True,
        help="Where models run; auto: CUDA if there is a CUDA device.",
    )(function)


def grid_options(function: Function) -> Function:
    """Add the options that choose cells and their settings."""
    for option in reversed(
        [
            click.option(
                "--models",
                default="all",
                show_default=True,
                help="A comma list of names, groups, patterns, files or classes; see 'bench list models'.",
            ),
            click.option(
                "--datasets",
                default="all",
                show_default=True,
                help="A comma list of names or files, or all; see 'bench list datasets'.",
            ),
            click.option("--seeds", help="Seeds, such as 41-45 or 41,42. [default: the preset's]"),
            click.option(
                "--preset",
                default="paper",
                show_default=True,
                help="A bundle of settings; see 'bench list presets'.",
            ),
            click.option(
                "--recipe", help="A training protocol; see 'bench list recipes'. [default: the preset's]"
            ),
            click.option(
                "--configurations",
                type=click.IntRange(min=1),
                metavar="N",
                help="Configurations that recipe equal tries, the published one first. [default: 6, or the preset's]",
            ),
            click.option(
                "--set",
                "assignments",
                multiple=True,
                metavar="KEY=VALUE",
                help="Change a setting, such as epochs=20; see 'bench list settings'. Repeatable.",
            ),
        ]
    ):
        function = option(function)
    return function
