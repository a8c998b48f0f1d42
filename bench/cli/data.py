"""``bench data``: Prepare, verify, fetch, simulate, import, export or clean up datasets."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.options import data_option, default_data

if TYPE_CHECKING:
    from bench.datasets.verify import VerifyReport

JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that read."
)


@click.group("data")
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
    from bench.run.display import make_display

    root = data or default_data()
    for name in _chosen(names, root):
        with make_display(0) as display:
            manifest = datasets.prepare(
                name,
                root,
                jobs=jobs,
                allow_skipped=allow_skipped,
                progress=lambda done, total, name=name: display.record(name, done, total),
            )
        skipped = f", {len(manifest.skipped)} damaged records skipped" if manifest.skipped else ""
        click.echo(
            f"{name}: {manifest.n_windows} windows of {len(manifest.subjects)} subjects "
            f"({manifest.provenance.kind}){skipped}; fingerprint {manifest.fingerprint[:12]}"
        )


@command.command("verify")
@click.argument("names", nargs=-1)
@data_option
@JOBS
def verify(names: tuple[str, ...], data: Path | None, jobs: int) -> None:
    """Compare folders with the published datasets; exit code 0 only if all of them are whole.

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
    raise SystemExit(0 if all(report is not None and report.is_published for report in reports) else 1)


def _show(report: "VerifyReport") -> None:
    from textwrap import fill

    from tabulate import tabulate

    marks = {True: "agrees", False: "DIFFERS", None: ""}
    kind = "no window could be made" if report.kind is None else report.kind
    click.echo(f"{report.dataset}: {kind} ({report.folder})")
    rows = [
        (finding.item, fill(finding.expected, 40), fill(finding.found, 60), marks[finding.agrees])
        for finding in report.findings
    ]
    click.echo(tabulate(rows, ["", "published", "found", ""], disable_numparse=True))
    for remark in report.remarks:
        click.echo(f"  {remark}")
    click.echo("")


@command.command("fetch")
@click.argument("name")
@data_option
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option("--replace", is_flag=True, help="Fetch files again that do not have the publisher's checksum.")
@click.option("--base-address", metavar="URL", help="Fetch from a mirror; https only.")
def fetch(name: str, data: Path | None, yes: bool, replace: bool, base_address: str | None) -> None:
    """Download a dataset from its publisher, going on where an earlier download stopped.

    \b
    bench data fetch ptb-xl --data DIR
    """
    from bench.datasets.fetch import fetch as fetching

    root = data or default_data()
    plan = fetching.plan(name, root, base_address=base_address)
    click.echo(f"{name} from {plan.address}\nlicence: {plan.licence}\nto: {plan.folder}")
    click.echo(
        f"about {plan.n_bytes / 1e9:.2f} GB in {plan.n_files} files; at most {plan.n_bytes_needed / 1e9:.2f} GB are "
        f"needed on the way, {plan.n_bytes_free / 1e9:.1f} GB are free"
    )
    for note in plan.notes:
        click.echo(f"note: {note}")
    if not yes:
        click.confirm("Start?", abort=True)
    done = fetching.fetch(name, root, base_address=base_address, replace=replace, progress=_percent_lines())
    click.echo(
        f"{done.folder}: {done.n_files} files, {done.n_files_kept} of them were there already, "
        f"{done.n_files_replaced} replaced"
    )
    if done.sha256 is not None:
        click.echo(f"sha256 {done.sha256}, to compare with others'; noted in {fetching.NOTE_NAME}")


def _percent_lines() -> Callable[[int, int], None]:
    """Return a progress callable that prints each new percent of the bytes to standard error."""
    last = -1

    def show(n_bytes: int, total: int) -> None:
        nonlocal last
        percent = 100 * n_bytes // max(1, total)
        if percent > last:
            last = percent
            click.echo(f"\r{percent:3d} % of {total / 1e6:.0f} MB", nl=percent >= 100, err=True)

    return show


@command.command("simulate")
@click.argument("names", nargs=-1)
@data_option
@click.option("--subjects", type=click.IntRange(min=1), help="Size of the cohort. [default: small]")
@click.option(
    "--seconds", type=click.FloatRange(min=0, min_open=True), help="Per recording. [default: short]"
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=41, show_default=True, help="Of the cohort's people."
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
@click.option("--name", help="Name of the dataset, where SOURCE has no dataset.toml.")
@click.option("--hz", type=float, help="Sampling rate, where SOURCE has no dataset.toml.")
def import_folder(source: Path, data: Path | None, name: str | None, hz: float | None) -> None:
    """Import windows: a folder of the Medformer repository, or .npz/.npy files with a dataset.toml.

    \b
    bench data import FOLDER --data DIR
    """
    from bench.datasets.own import transfer
    from bench.errors import UsageError

    if (name is None) != (hz is None):
        raise UsageError("--name and --hz go together: they describe a folder without dataset.toml")
    description = None
    if name is not None and hz is not None:
        description = transfer.describe(source, name=name, sampling_rate_hz=hz)
    folder = transfer.import_windows(source, data or default_data(), description=description)
    click.echo(f"imported to {folder}; use it with --datasets {folder.name}")


@command.command("export")
@click.argument("name")
@click.argument("target", type=click.Path(path_type=Path))
@data_option
def export(name: str, target: Path, data: Path | None) -> None:
    """Write the windows of a dataset as a folder that 'bench data import' takes.

    \b
    bench data export ptb-xl FOLDER --data DIR
    """
    from bench import datasets
    from bench.datasets.own import transfer

    root = data or default_data()
    datasets.register_imported(root)
    datasets.prepare(name, root)
    transfer.export_windows(datasets.load(name, root, normalise=False), target)
    click.echo(f"exported to {target}")


@command.command("clean")
@click.argument("names", nargs=-1)
@click.option("--keep-current", is_flag=True, help="Leave windows whose dataset is still as it was.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clean(names: tuple[str, ...], keep_current: bool, yes: bool) -> None:
    """Remove prepared windows from the cache, after asking; they are cut anew when needed.

    \b
    bench data clean --keep-current
    bench data clean ptb-xl --yes
    """
    from bench.datasets.cache.stored import remove, stored
    from bench.errors import unknown_name

    kept = ("in use", "unknown") if keep_current else ()
    everything = stored()
    for name in names:
        if name not in {one.dataset for one in everything}:
            raise unknown_name("prepared dataset", name, {one.dataset for one in everything})
    chosen = [one for one in everything if (not names or one.dataset in names) and one.state not in kept]
    for one in chosen:
        source = f" (from {one.source_folder})" if one.source_folder else ""
        size = f"{one.n_bytes / 1e6:.0f} MB, {one.age_s / 86_400:.0f} days old"
        click.echo(f"{one.dataset}  {one.state}, {size}  {one.folder}{source}")
    total = sum(one.n_bytes for one in chosen) / 1e9
    if not chosen:
        click.echo("no prepared windows to remove")
    elif yes or click.confirm(f"Remove these {len(chosen)} folders, {total:.2f} GB?", err=True):
        left = [one for one in chosen if not remove(one)]
        click.echo(f"removed {len(chosen) - len(left)} folders, left {len(left)} that are being written")
