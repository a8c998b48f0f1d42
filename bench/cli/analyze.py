"""``bench analyze``: Test what the paper says of its model, beside the scores."""

from typing import TYPE_CHECKING

import click

from bench.cli.analysis_command import analysis_command
from bench.cli.options import SuggestingGroup

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


@click.group("analyze", cls=AnalysisGroup)
def command() -> None:
    """Test what the paper says of its model, on trained cells, data or records; see docs/analyses.md."""


def _analyses() -> "dict[str, Analysis]":
    """Return the analyses without a command of their own."""
    from bench.analyses.registry import analyses

    return {name: found for name, found in analyses().items() if found.command == f"bench analyze {name}"}
