"""``bench data``: Prepare, verify, fetch, simulate, import, export or clean up datasets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.options import FiniteRange, SuggestingGroup, data_option, default_data

if TYPE_CHECKING:
    from bench.datasets.verify import VerifyReport

JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes that read."
)


@click.group("data", cls=SuggestingGroup)
def command() -> None:
    """Prepare, verify, fetch, simulate, import, export or clean up datasets.

    \b
    bench data verify --data DIR
    bench data fetch uci-har --data DIR
    bench data simulate all --data DIR
    bench data import DIR/APAVA --name my-apava --hz 256 --data DIR
    """


def _chosen(names: tuple[str, ...], root: Path, *, with_series: bool = False) -> list[str]:
    """Return the datasets named, imported ones and files of readers included; nothing stands for all published."""
    from bench import datasets
    from bench.plan.request import chosen_names

    published = datasets.names(all_only=not with_series)
    datasets.register_imported(root)
    return chosen_names("dataset", ",".join(names) or "all", datasets, published)


@command.command("prepare")
@click.argument("names", nargs=-1)
@data_option
@JOBS
@click.option("--allow-skipped", is_flag=True, help="Accept more than 1 percent of damaged records.")
def prepare(names: tuple[str, ...], data: Path | None, jobs: int, allow_skipped: bool) -> None:
    """Cut the windows of datasets into the cache.

    \b
    bench data prepare ptb-xl --data DIR --jobs 2
    """
    from bench import datasets
    from bench.datasets.provenance import share_text
    from bench.run.display import make_display

    root = data or default_data()
    for name in _chosen(names, root):
        with make_display() as display:
            manifest = datasets.prepare(
                name,
                root,
                jobs=jobs,
                allow_skipped=allow_skipped,
                progress=lambda done, total, name=name: display.record(name, done, total),
            )
        skipped = f", {len(manifest.skipped)} damaged records skipped" if manifest.skipped else ""
        kind = f"{manifest.provenance.kind}{share_text(manifest.provenance.share)}"
        click.echo(
            f"{name}: {manifest.n_windows} windows of {len(manifest.subjects)} subjects ({kind}){skipped}; "
            f"fingerprint {manifest.fingerprint[:12]}"
        )


@command.command("verify")
@click.argument("names", nargs=-1)
@data_option
@JOBS
def verify(names: tuple[str, ...], data: Path | None, jobs: int) -> None:
    """Compare folders with the published datasets; exit code 0 only if all of them are whole.

    Your own data are counted only, since there is no published dataset to compare them with.

    \b
    bench data verify ptb-xl --data DIR
    """
    from bench import datasets
    from bench.errors import DataError

    root, reports = data or default_data(), []
    for name in _chosen(names, root, with_series=True):
        try:
            reports.append(datasets.verify(name, root, jobs=jobs))
        except DataError as error:
            click.echo(f"{name}: {error}\n")
            reports.append(None)
            continue
        _show(reports[-1])
    raise SystemExit(0 if all(report is not None and report.is_whole for report in reports) else 1)


def _show(report: "VerifyReport") -> None:
    from textwrap import fill

    from tabulate import tabulate

    from bench.datasets.provenance import share_text

    marks = {True: "agrees", False: "DIFFERS", None: ""}
    kind = "no window could be made" if report.kind is None else f"{report.kind}{share_text(report.share)}"
    click.echo(f"{report.dataset}: {kind} ({report.folder})")
    rows = [
        (finding.item, fill(finding.expected, 40), fill(finding.found, 60), marks[finding.agrees])
        for finding in report.findings
    ]
    click.echo(
        tabulate(rows, ["", "expected" if report.is_own else "published", "found", ""], disable_numparse=True)
    )
    for remark in report.remarks:
        click.echo(f"  {remark}")
    click.echo("")


@command.command("fetch")
@click.argument("name")
@data_option
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option(
    "--replace", is_flag=True, help="Download files again whose checksum differs from the publisher's."
)
@click.option("--base-address", metavar="URL", help="Fetch from a mirror; https only.")
def fetch(name: str, data: Path | None, yes: bool, replace: bool, base_address: str | None) -> None:
    """Download a dataset from its publisher; complete files of an earlier download are kept.

    \b
    bench data fetch ptb-xl --data DIR
    """
    from bench.datasets.fetch import publisher
    from bench.datasets.fetch.source_table import source as source_of

    root, source = data or default_data(), source_of(name, base_address)
    click.echo(f"{name} from {source.address}\nlicence: {source.licence}\nto: {root / name}")
    click.echo(
        f"about {source.n_bytes / 1e9:.2f} GB in {source.n_files} files; at most "
        f"{publisher.needed_bytes(source) / 1e9:.2f} GB are needed on the way, "
        f"{publisher.free_bytes(root) / 1e9:.1f} GB are free"
    )
    for note in source.notes:
        click.echo(f"note: {note}")
    if not yes:
        click.confirm("Start?", abort=True)
    with _bar_of_bytes(source.n_bytes) as arrived:
        done = publisher.fetch(source, root, replace=replace, arrived=arrived)
    click.echo(
        f"{done.folder}: {done.n_files} files, {done.n_files_kept} of them were there already, "
        f"{done.n_files_replaced} replaced"
    )
    if done.sha256 is not None:
        click.echo(f"sha256 {done.sha256}, to compare with others'; noted in {publisher.NOTE_NAME}")


@contextmanager
def _bar_of_bytes(n_bytes: int) -> Iterator[Callable[[int], None]]:
    """Give what counts bytes for a bar on standard error; whatever follows starts on a new line."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeElapsedColumn

    columns = (BarColumn(bar_width=30), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("", total=n_bytes)
        yield lambda count: bars.advance(task, count)


@command.command("simulate")
@click.argument("names", nargs=-1)
@data_option
@click.option(
    "--subjects", type=click.IntRange(min=1), help="Number of simulated people. [default: a small number]"
)
@click.option(
    "--seconds", type=FiniteRange(min=0, min_open=True), help="Length of each recording. [default: short]"
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=41,
    show_default=True,
    help="Seed of the simulated people.",
)
def simulate(
    names: tuple[str, ...], data: Path | None, subjects: int | None, seconds: float | None, seed: int
) -> None:
    """Write simulated files in the publishers' layouts, marked as simulated.

    \b
    bench data simulate uci-har --subjects 10 --seconds 20 --data DIR
    """
    from bench.datasets.simulate.cohort import simulate as write

    root = data or default_data()
    for name in _chosen(names, root):
        folder = write(name, root, n_subjects=subjects, seconds=seconds, seed=seed)
        click.echo(f"{name}: simulated in {folder}")


@command.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@data_option
@click.option("--name", help="Name of the dataset. [default: that of its dataset.toml]")
@click.option("--hz", type=float, help="Sampling rate. [default: that of its dataset.toml]")
def import_folder(source: Path, data: Path | None, name: str | None, hz: float | None) -> None:
    """Import windows: a folder of the Medformer repository, or .npz/.npy files with a dataset.toml.

    \b
    bench data import FOLDER --data DIR
    """
    from bench.datasets.own import transfer

    description = transfer.described(source, name=name, sampling_rate_hz=hz)
    folder = transfer.import_windows(source, data or default_data(), description=description)
    click.echo(f"imported to {folder}; use it with --datasets {folder.name}")


@command.command("export")
@click.argument("name")
@click.argument("target", type=click.Path(path_type=Path))
@data_option
def export(name: str, target: Path, data: Path | None) -> None:
    """Write the windows of a dataset, and its split, as a folder that 'bench data import' takes.

    \b
    bench data export ptb-xl FOLDER --data DIR
    """
    from bench import datasets
    from bench.datasets.own import transfer
    from bench.errors import DataError

    root = data or default_data()
    datasets.register_imported(root)
    manifest = datasets.prepare(name, root)
    try:
        split = datasets.make_split(name, manifest.subjects, kind=manifest.provenance.kind)
    except DataError as error:
        split = None
        click.echo(f"exported without a split: {error}", err=True)
    transfer.export_windows(datasets.load(name, root, normalise=False), target, split)
    click.echo(f"exported to {target}; 'bench data import {target}' takes it")


@command.command("clean")
@click.argument("names", nargs=-1)
@click.option("--keep-current", is_flag=True, help="Keep windows whose dataset has not changed since.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clean(names: tuple[str, ...], keep_current: bool, yes: bool) -> None:
    """Remove prepared windows from the cache, after asking; they are cut again when needed.

    \b
    bench data clean --keep-current
    bench data clean ptb-xl --yes
    """
    from bench.datasets.cache.stored import remove, stored
    from bench.errors import unknown_name

    kept = ("in use", "unknown") if keep_current else ()
    everything = stored()
    known = {folder.dataset for folder in everything}
    for name in names:
        if name not in known:
            raise unknown_name("prepared dataset", name, known)
    chosen = [
        folder for folder in everything if (not names or folder.dataset in names) and folder.state not in kept
    ]
    for folder in chosen:
        source = f" (from {folder.source_folder})" if folder.source_folder else ""
        size = f"{folder.n_bytes / 1e6:.0f} MB, {folder.age_s / 86_400:.0f} days old"
        click.echo(f"{folder.dataset}  {folder.state}, {size}  {folder.folder}{source}")
    total = sum(folder.n_bytes for folder in chosen) / 1e9
    if not chosen:
        click.echo("no prepared windows to remove")
    elif yes or click.confirm(f"Remove these {len(chosen)} folders, {total:.2f} GB?", err=True):
        left = [folder for folder in chosen if not remove(folder)]
        click.echo(f"removed {len(chosen) - len(left)} folders, left {len(left)} that are being written")
