"""``bench doctor``: Show device, scan backend, versions, threads and data found."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.options import data_option, default_data

if TYPE_CHECKING:
    from bench.backends import Backends


@click.command("doctor")
@data_option
def command(data: Path | None) -> None:
    """Show device, scan and attention backends, versions, threads, and which datasets are found.

    \b
    bench doctor
    bench doctor --data DIR
    """
    from bench import attention, scan
    from bench.files import cache_root
    from bench.measure import environment

    root = data or default_data()
    device = environment.resolve_device("auto")
    described = environment.describe(device, 1, "float32", scan.choose_backend("auto", device))
    click.echo(f"device: {described.device} ({described.device_name}), {os.cpu_count()} cores")
    for line in [*_backend_lines(scan.CHOICE, device), *_backend_lines(attention.CHOICE, device)]:
        click.echo(line)
    click.echo("versions: " + ", ".join(f"{name} {version}" for name, version in described.versions.items()))
    click.echo("threads per cell: 1 unless --threads says otherwise")
    click.echo(f"cache: {cache_root()}")
    click.echo(f"data: {root}")
    for line in _data_lines(root):
        click.echo(f"  {line}")


def _backend_lines(choice: "Backends", device: str) -> list[str]:
    """Name the backend that runs, the reason, and what stops each of the others."""
    asked = os.environ.get(choice.variable)
    why = f"first that runs here of {', '.join(choice.preferred_on(device))}"
    if asked not in (None, "", "auto"):
        why = f"{choice.variable}={asked}"
    can = f"{', '.join(choice.available(device))} can run"
    reasons = [f"  not {name}: {obstacle}" for name, obstacle in choice.obstacles(device).items()]
    return [f"{choice.what} backend: {choice.choose('auto', device)} ({why}; {can})", *reasons]


def _data_lines(root: Path) -> list[str]:
    from bench import datasets
    from bench.errors import DataError

    lines = []
    for name in [*datasets.names(all_only=True), *datasets.register_imported(root)]:
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
