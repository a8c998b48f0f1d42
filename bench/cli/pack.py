"""``bench pack``: Pack records, predictions and report into one archive."""

from pathlib import Path

import click

from bench.cli.options import default_results, out_option


@click.command("pack")
@out_option
@click.option(
    "--archive",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("medmamba-bench-results.zip"),
    show_default=True,
    help="The file to write.",
)
@click.option("--verify", is_flag=True, help="Check an archive; write nothing.")
def command(out: Path | None, archive: Path, verify: bool) -> None:
    """Pack records, predictions and their report into one zip file with a manifest and checksums.

    The report is rendered again, so that it fits the packed records. --verify compares every byte of an archive with
    its manifest, computes the scores of each record again from its predictions and, where its split is published, its
    key from its settings.

    \b
    bench pack --out results --archive paper-results.zip
    bench pack --verify --archive paper-results.zip
    """
    if verify:
        _verify(archive)
        return
    from tempfile import TemporaryDirectory

    from bench.report import render
    from bench.results.pack import pack

    results = out or default_results()
    with TemporaryDirectory() as report:
        render(results, Path(report))
        packed = pack(results, Path(report), archive)
    click.echo(f"{packed.path}: {packed.n_cells} cells, {packed.n_files} files, SHA-256 {packed.sha256}")


def _verify(archive: Path) -> None:
    """Print what was checked, and what no record allows to check."""
    from collections import Counter

    from bench.plan.vouching import vouch_for_pack

    vouched = vouch_for_pack(archive)
    unchecked = Counter(reason for cell in vouched.cells for reason in cell.unchecked)
    click.echo(f"{archive}: {vouched.n_files} files, all as the manifest says")
    click.echo(f"{len(vouched.cells)} cells: counts and scores follow from settings and predictions")
    for reason, n_cells in unchecked.items():
        click.echo(f"not checked in {n_cells} cells: {reason}")
