"""Verification: whole, excerpt, simulated or damaged, and checksums against the publisher's list."""

import hashlib
import importlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench import datasets
from bench.datasets import load, registry, splits
from bench.datasets.own import transfer
from bench.datasets.verify import Finding, VerifyReport, verify
from bench.errors import DataError
from tests.datasets import toy_dataset


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the root of a toy dataset with the published counts, split by a rule like PTB-XL's."""
    toy_dataset.register(monkeypatch)
    monkeypatch.setitem(splits._CUTS_PERCENT, "toy", (60, 80))
    for record in ("anna_0", "bert_0", "cora_0", "dora_0"):
        toy_dataset.write(tmp_path, record)
    return tmp_path


def finding(report: VerifyReport, item: str) -> Finding:
    (one,) = [one for one in report.findings if one.item in (item, f"{item} of SHA256SUMS.txt")]
    return one


def write_checksums(folder: Path, text: str) -> None:
    (folder / "SHA256SUMS.txt").write_text(text)


def test_published_counts_make_the_published_dataset(toy: Path) -> None:
    report = verify("toy", toy)
    assert (report.kind, report.is_published) == ("whole", True)


def test_excerpt_is_not_published(toy: Path) -> None:
    (toy / "toy" / "dora_0.npy").unlink()
    report = verify("toy", toy)
    assert (report.kind, report.is_published) == ("excerpt", False)
    assert finding(report, "windows") == Finding("windows", "20", "15", False)


def test_damaged_record_is_counted_and_named(toy: Path) -> None:
    toy_dataset.damage(toy, "dora_0")
    report = verify("toy", toy)
    assert finding(report, "damaged records") == Finding("damaged records", "0", "1", False)
    assert report.remarks == ("damaged: dora_0: dora_0.npy: unreadable",)


def test_agreeing_checksums(toy: Path) -> None:
    digest = hashlib.sha256((toy / "toy" / "anna_0.npy").read_bytes()).hexdigest()
    write_checksums(toy / "toy", f"{digest}  anna_0.npy\n{digest} *absent.npy\n")
    one = finding(verify("toy", toy), "checksums")
    assert (one.found, one.agrees) == ("1 agree, 1 not here, 0 differ", True)


def test_differing_checksum_is_not_the_published_dataset(toy: Path) -> None:
    write_checksums(toy / "toy", f"{'0' * 64} anna_0.npy\n")
    report = verify("toy", toy)
    assert finding(report, "checksums").found == "0 agree, 0 not here, 1 differ: anna_0.npy"
    assert not report.is_published


@pytest.mark.parametrize("line", ["<html>", f"{'0' * 64}  ../outside", f"{'0' * 64}  /etc/passwd", "0 a.npy"])
def test_line_that_is_no_checksum_is_counted(toy: Path, line: str) -> None:
    write_checksums(toy / "toy", line)
    one = finding(verify("toy", toy), "checksums")
    assert one.agrees is False
    assert "1 lines are not" in one.found


def test_empty_line_of_a_list_is_no_fault(toy: Path) -> None:
    digest = hashlib.sha256((toy / "toy" / "anna_0.npy").read_bytes()).hexdigest()
    write_checksums(toy / "toy", f"{digest}  ./anna_0.npy\n\n")
    one = finding(verify("toy", toy), "checksums")
    assert (one.found, one.agrees) == ("1 agree, 0 not here, 0 differ", True)


@pytest.mark.parametrize(("checked", "agrees"), [((), None), (("rate", "channels"), True)])
def test_only_what_a_reader_compares_is_called_the_same(
    toy: Path, monkeypatch: pytest.MonkeyPatch, checked: tuple, agrees: bool | None
) -> None:
    monkeypatch.setattr(toy_dataset, "FACTS", replace(toy_dataset.FACTS, checked_in_files=checked))
    report = verify("toy", toy)
    for item in ("sampling rate of windows", "channels in order"):
        assert finding(report, item).agrees is agrees


def test_windows_per_class_are_compared_where_they_are_published(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package exports a function of the module's name.
    module = importlib.import_module("bench.datasets.verify")
    monkeypatch.setattr(module, "published_totals", lambda name: (10, 10))
    one = finding(verify("toy", toy), "windows per class")
    assert one == Finding("windows per class", "even 10, odd 10", "even 20, odd 0", False)


def test_totals_per_class_are_those_of_the_parts_or_the_literature() -> None:
    assert splits.published_totals("ptb") == (10_491, 53_865)
    assert splits.published_totals("sleep-edf") == (8_285, 2_804, 17_799, 5_703, 7_717)
    assert splits.published_totals("uci-har") is None


def test_files_of_a_known_table_are_compared(simulated: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(simulated("adftd") / "adftd", tmp_path / "adftd")
    one = finding(verify("adftd", tmp_path), "checksums of files known here")
    assert one.found.startswith("0 agree, ")
    assert one.agrees is False


def test_pinned_list_is_compared_itself(simulated: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(simulated("sleep-edf") / "sleep-edf", tmp_path / "sleep-edf"))
    write_checksums(folder, f"{'0' * 64} absent\n")
    one = finding(verify("sleep-edf", tmp_path), "checksums of the list SHA256SUMS.txt itself")
    assert one.agrees is False


def test_imported_windows_are_verified_as_windows(toy: Path, tmp_path: Path) -> None:
    dataset = load("toy", toy, normalise=False)
    transfer.export_windows(dataset, tmp_path / "exported")
    transfer.import_windows(tmp_path / "exported", tmp_path)
    registry.register_imported(tmp_path)
    report = verify("toy-windows", tmp_path)
    assert (report.kind, report.is_published) == ("own", False)
    assert finding(report, "windows").found == "20"


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder; get PTB-XL"):
        verify("ptb-xl", tmp_path)


def test_split_that_cannot_be_made_is_a_finding(toy: Path) -> None:
    for record in ("bert_0", "cora_0", "dora_0"):
        (toy / "toy" / f"{record}.npy").unlink()
    one = finding(verify("toy", toy), "split")
    assert one.agrees is False
    assert "is empty with 1 subjects" in one.found


@pytest.mark.usefixtures("shared_cache")
@pytest.mark.parametrize("name", datasets.names(all_only=True))
def test_simulated_cohort_is_called_simulated(name: str, simulated: Callable[[str], Path]) -> None:
    report = verify(name, simulated(name))
    assert (report.kind, report.is_published) == ("simulated", False)
    assert finding(report, "damaged records").found == "0"


@pytest.mark.usefixtures("shared_cache")
@pytest.mark.parametrize(
    ("name", "kind", "windows"),
    [
        ("apava", "excerpt", "207"),
        ("ptb", "excerpt", "52"),
        ("ptb-xl", "excerpt", "2,710"),
        ("uci-har", "excerpt", "3,350"),
        ("adftd", None, "0"),
        ("sleep-edf", None, "0"),
    ],
)
def test_real_excerpts_are_called_what_they_are(
    real: Path, name: str, kind: str | None, windows: str
) -> None:
    report = verify(name, real)
    assert (report.kind, report.is_published) == (kind, False)
    assert finding(report, "windows").found == windows


def test_real_weather_is_whole(real: Path) -> None:
    report = verify("weather", real)
    assert (report.kind, report.is_published) == ("whole", True)
    assert finding(report, "rows") == Finding("rows", "52,696", "52,696", True)


def test_real_tables_of_adftd_are_those_of_the_version(real: Path) -> None:
    one = finding(verify("adftd", real), "checksums of files known here")
    assert (one.found, one.agrees) == ("4 agree, 88 not here, 0 differ", True)


def test_real_list_of_sleep_edf_is_the_pinned_one(real: Path) -> None:
    assert finding(verify("sleep-edf", real), "checksums of the list SHA256SUMS.txt itself").agrees


def test_real_checksums_of_sleep_edf(real: Path) -> None:
    # The two tables were saved again by a spreadsheet program; all else agrees.
    found = finding(verify("sleep-edf", real), "checksums").found
    assert found == "22 agree, 374 not here, 2 differ: ST-subjects.xls, SC-subjects.xls"
