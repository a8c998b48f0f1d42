"""``bench analyze``: Analyses beside the table of results."""

import click

from bench.cli.analysis_command import analysis_command


class AnalysisGroup(click.Group):
    """A group with a command for each registered analysis."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the analyses in the order of a report."""
        from bench.analyses.registry import analyses

        return list(analyses())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of one analysis."""
        from bench.analyses.registry import analyses

        return analysis_command(analyses()[cmd_name]) if cmd_name in analyses() else None


@click.group("analyze", cls=AnalysisGroup)
def command() -> None:
    """Analyses of models, data and records beside the table of results."""
