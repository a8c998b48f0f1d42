"""``bench field``: Show what others publish on the same data."""

import click


@click.command("field")
@click.option("--datasets", "names", default="all", show_default=True, help="Names, a comma list, or all.")
def command(names: str) -> None:
    """Show the scores that other papers report on the same datasets, dated, with differences in protocol.

    \b
    bench field
    bench field --datasets uci-har
    """
    from bench.field.claimed import datasets
    from bench.field.field_tables import field_tables
    from bench.plan.select import parse_names
    from bench.render.formats import to_console

    chosen = parse_names("dataset", names, datasets(), datasets())
    click.echo("\n".join(map(to_console, field_tables(chosen))))
