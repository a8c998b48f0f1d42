"""``bench doctor``: Show device, scan backend, versions, threads and data found."""

import os
from pathlib import Path

import click

from bench.cli.options import data_option, default_data


@click.command("doctor")
@data_option
def command(data: Path | None) -> None:
    """Show device, scan backend, versions, threads, and which datasets are found.

    \b
    bench doctor
    bench doctor --data DIR
    """
    from bench import scan
    from bench.files import cache_root
    from bench.measure import environment

    root = data or default_data()
    device = environment.resolve_device("auto")
    described = environment.describe(device, 1, "float32", scan.choose_backend("auto", device))
    click.echo(f"device: {described.device} ({described.device_name}), {os.cpu_count()} cores")
    for line in _scan_lines(device, described.scan_backend):
        click.echo(line)
    click.echo("versions: " + ", ".join(f"{name} {version}" for name, version in described.versions.items()))
    click.echo("threads per cell: 1 unless --threads says otherwise")
    click.echo(f"cache: {cache_root()}")
    click.echo(f"data: {root}")
    for line in _data_lines(root):
        click.echo(f"  {line}")


def _scan_lines(device: str, chosen: str | None) -> list[str]:
    """Say which scan runs, why, and what is in the way of the others."""
    from bench import scan
    from bench.scan.dispatch import VARIABLE

    asked = os.environ.get(VARIABLE)
    why = f"first that runs here of {', '.join(scan.preferred(device))}"
    if asked not in (None, "", "auto"):
        why = f"{VARIABLE}={asked}"
    can = f"{', '.join(scan.available_backends(device))} can run"
    reasons = [f"  not {name}: {obstacle}" for name, obstacle in scan.obstacles(device).items()]
    return [f"scan backend: {chosen} ({why}; {can})", *reasons]


def _data_lines(root: Path) -> list[str]:
    from bench import datasets
    from bench.errors import DataError

    lines = []
    for name in datasets.names(all_only=True):
        try:
            manifest = datasets.find_prepared(name, root)
        except DataError as error:
            lines.append(f"{name}: {error}")
            continue
        state = "found, not prepared yet"
        if manifest is not None:
            kind = manifest.provenance.kind
            state = f"prepared, {manifest.n_windows} windows of {len(manifest.subjects)} subjects ({kind})"
        lines.append(f"{name}: {state}")
    return lines
