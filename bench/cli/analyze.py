"""``bench analyze``: the group of analyses, each imported only when it is called."""

import importlib

import click

# Analysis -> module with its `command`, and the line that `bench analyze --help` shows.
ANALYSES = {
    "centralization": (
        "bench.cli.centralization",
        "How centralized signals are (SCI, DIC), beside the published table.",
    ),
    "channel-mixing": (
        "bench.cli.channel_mixing",
        "What trained channel mixing does to the correlations of channels.",
    ),
    "embedding": ("bench.cli.embedding", "Whether features separate classes or persons; t-SNE maps."),
    "theory": ("bench.cli.theory", "The paper's propositions, put to the test."),
    "missing-sensors": (
        "bench.cli.missing_sensors",
        "Macro F1 when channels are missing, channel dropout on and off.",
    ),
    "scales": ("bench.cli.scales", "What each branch of MedMamba responds to, and what it is worth."),
    "scaling": ("bench.cli.scaling", "How cost grows with the length of the window."),
}


class AnalysisGroup(click.Group):
    """A group that knows its commands by the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the analyses in the order of the table."""
        return list(ANALYSES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one analysis."""
        if cmd_name not in ANALYSES:
            return None
        return importlib.import_module(ANALYSES[cmd_name][0]).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the analyses without importing them."""
        with formatter.section("Analyses"):
            formatter.write_dl([(name, text) for name, (_, text) in ANALYSES.items()])


@click.group("analyze", cls=AnalysisGroup)
def command() -> None:
    """Analyses of models, data and records beside the table of results."""
