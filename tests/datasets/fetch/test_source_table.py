"""The tables of sources: one for each dataset, checked when read, and lists of checksums that are not trusted."""

import hashlib
from pathlib import Path

import pytest
from pydantic import ValidationError

from bench.datasets.fetch import source_table
from bench.errors import UsageError


@pytest.mark.parametrize("name", ["adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har"])
def test_every_dataset_has_a_source(name: str) -> None:
    found = source_table.source(name)
    assert found.name == name
    assert found.address.startswith("https://")


def test_sources_are_of_registered_datasets() -> None:
    assert source_table.names() == ["adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har"]


def test_adftd_table_has_the_88_signals_with_checksums() -> None:
    table = source_table.read_table("adftd.tsv")
    signals = [file for file in table if file.path.endswith(".set")]
    assert len(signals) == 88
    assert all(file.sha256 and file.n_bytes for file in signals)


def test_real_list_of_checksums_has_39_nights(real: Path) -> None:
    path = real / "sleep-edf" / "SHA256SUMS.txt"
    content = source_table.source("sleep-edf").content
    assert isinstance(content, source_table.ChecksumList)
    assert content.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    listed, wrong = source_table.listed_checksums(path.read_text())
    nights = [file.path for file in listed if source_table.is_wanted(file.path, content.include)]
    assert wrong == []
    assert sum(path.endswith("-PSG.edf") for path in nights) == 39


@pytest.mark.parametrize(
    "line",
    ["nonsense", f"{'0' * 63}x a", f"{'0' * 64} ../a", f"{'0' * 64} /a", f"{'0' * 64} a/../../b", "0" * 64],
)
def test_list_of_checksums_is_not_trusted(line: str) -> None:
    good = f"{'A' * 64} *./a/b c.txt"
    found, wrong = source_table.listed_checksums(f"{good}\n\n{line}\n")
    assert found == [source_table.RemoteFile("a/b c.txt", "a" * 64)]
    assert wrong == [(3, line)]


MINIMAL: dict[str, object] = {
    "name": "x",
    "homepage": "h",
    "licence": "l",
    "address": "https://a/",
    "n_bytes": 1,
    "n_files": 1,
    "notes": [],
    "content": {"kind": "file-table", "path": "x.tsv"},
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("surprise", 1),
        ("address", "http://a/"),
        ("address", "https://a"),
        ("address", "https://user:word@a/"),
        ("n_bytes", 0),
    ],
)
def test_unusable_source_is_refused(field: str, value: object) -> None:
    source_table.Source.model_validate(MINIMAL)
    with pytest.raises(ValidationError, match=field):
        source_table.Source.model_validate({**MINIMAL, field: value})


@pytest.mark.parametrize(
    "address",
    ["http://example.org/", "ftp://a/", "https://", "https://user:word@a/", "http://127.0.0.1.evil.org/"],
)
def test_address_other_than_https_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="must start with https://"):
        source_table.source("ptb", address)


def test_unknown_dataset_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match="Did you mean 'ptb-xl'"):
        source_table.source("ptbxl")


def test_licence_is_told() -> None:
    assert source_table.source("ptb").licence == "Open Data Commons Attribution License 1.0"
