"""The tables of sources: one for each dataset, checked when read, and lists of checksums that are not trusted."""

import hashlib
from pathlib import Path

import pytest

from bench.datasets.fetch import source_table
from bench.errors import DataError


@pytest.mark.parametrize("name", ["adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har"])
def test_every_dataset_has_a_source(name: str) -> None:
    found = source_table.source(name)
    assert found.name == name
    assert found.address.startswith("https://")


def test_sources_are_of_registered_datasets() -> None:
    assert source_table.names() == ["adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har"]


def test_adftd_table_has_the_88_signals_with_checksums() -> None:
    table = source_table.read_table("adftd.tsv")
    signals = [one for one in table if one.path.endswith(".set")]
    assert len(signals) == 88
    assert all(one.sha256 and one.n_bytes for one in signals)


def test_real_list_of_checksums_has_39_nights(real: Path) -> None:
    path = real / "sleep-edf" / "SHA256SUMS.txt"
    content = source_table.source("sleep-edf").content
    assert isinstance(content, source_table.ChecksumList)
    assert content.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    listed = source_table.parse_checksums(path.read_text(), "list")
    nights = [one.path for one in listed if source_table.is_wanted(one.path, content.include)]
    assert sum(path.endswith("-PSG.edf") for path in nights) == 39


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "line 1: 'nonsense' is not a SHA-256 and a path"),
        (f"{'0' * 63}x a\n", "line 1: .* is not a SHA-256"),
        (f"{'0' * 64} ../a\n", "line 1: .*within the folder"),
        (f"{'0' * 64} /a\n", "line 1: .*within the folder"),
        (f"{'0' * 64}\n", "line 1: .*within the folder"),
        ("\n", "no checksums in it"),
    ],
)
def test_list_of_checksums_is_not_trusted(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        source_table.parse_checksums(text, "list")


def test_source_with_unknown_field_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.toml: surprise: Extra inputs are not permitted"):
        source_table.parse_source("surprise = 1\n" + MINIMAL, "x.toml")


def test_source_with_plain_http_is_refused() -> None:
    with pytest.raises(DataError, match="must start with https://"):
        source_table.parse_source(MINIMAL.replace("https://a/", "http://a/"), "x.toml")


MINIMAL = """
name = "x"
homepage = "h"
licence = "l"
address = "https://a/"
n_bytes = 1
n_files = 1
notes = []
[content]
kind = "file-table"
path = "x.tsv"
"""
