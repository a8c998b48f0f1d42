"""``bench analyze``: Test what the paper says of its model, beside the scores."""

import difflib
from typing import TYPE_CHECKING

import click

from bench.cli.analysis_command import analysis_command
from bench.cli.options import SuggestingGroup
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.analyses.contract import Analysis


class AnalysisGroup(SuggestingGroup):
    """A group with a command for each registered analysis."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the analyses in the order of a report."""
        return list(_analyses())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of one analysis."""
        found = _analyses().get(cmd_name)
        return None if found is None else analysis_command(found)

    def unknown_command(self, ctx: click.Context, name: str) -> UsageError:
        """Return the error for an unknown command; an analysis may have a command outside this group."""
        from bench.analyses.registry import analyses

        close = difflib.get_close_matches(name, analyses(), n=1)
        if close and close[0] not in _analyses():
            return UsageError(
                f"'{name}' is no command of bench analyze. Use '{analyses()[close[0]].command}'."
            )
        return super().unknown_command(ctx, name)


@click.group("analyze", cls=AnalysisGroup)
def command() -> None:
    """Test what the paper says of its model, on trained cells, data or records; see docs/analyses.md."""


def _analyses() -> "dict[str, Analysis]":
    """Return the analyses without a command of their own."""
    from bench.analyses.registry import analyses

    return {name: found for name, found in analyses().items() if found.command == f"bench analyze {name}"}
