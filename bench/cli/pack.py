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
@click.option("--verify", is_flag=True, help="Check an archive against its manifest; write nothing.")
def command(out: Path | None, archive: Path, verify: bool) -> None:
    """Pack records, predictions and their report into one zip file with a manifest and checksums.

    The report is rendered anew, so that it is of the records beside it.

    \b
    bench pack --out results --archive paper-results.zip
    bench pack --verify --archive paper-results.zip
    """
    from bench.results.pack import pack, verify_pack

    if verify:
        click.echo(f"{archive}: {verify_pack(archive)} files, all as the manifest says")
        return
    from tempfile import TemporaryDirectory

    from bench.report import render

    results = out or default_results()
    with TemporaryDirectory() as report:
        render(results, Path(report))
        packed = pack(results, Path(report), archive)
    click.echo(f"{packed.path}: {packed.n_cells} cells, {packed.n_files} files, SHA-256 {packed.sha256}")
