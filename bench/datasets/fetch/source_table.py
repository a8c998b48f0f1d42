"""Where each dataset is fetched from: the data files ``sources/NAME.toml`` and how they are read."""

import csv
import fnmatch
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from bench.datasets.contract import DatasetFacts
from bench.datasets.fetch.archive import inside
from bench.errors import UsageError, unknown_name

_FOLDER = files("bench.datasets.fetch") / "sources"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CHECKSUM_LINE = re.compile(r"([0-9a-fA-F]{64}) +[*]?(?:\./)?(.+)")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChecksumList(_Model):
    """Files are those of the publisher's own list of checksums that match a pattern."""

    kind: Literal["checksum-list"]
    path: str = Field(description="the list, lines of 'sha256 path', relative to the address")
    sha256: str | None = Field(None, description="checksum of the list itself, where known")
    include: tuple[str, ...] = Field(description="patterns of shell style; * matches / too")


class FileTable(_Model):
    """Files are those of a table in this package, with size and checksum of each."""

    kind: Literal["file-table"]
    path: str = Field(
        description="tab-separated file beside the source: path, size_bytes, sha256 (may be empty)"
    )


class Archive(_Model):
    """Everything comes in one zip file."""

    kind: Literal["archive"]
    path: str = Field(description="the archive, relative to the address")
    sha256: str | None = Field(None, description="checksum of the archive, where known")
    inner: str | None = Field(None, description="an archive inside the archive that holds the data")
    take: tuple[str, ...] = Field(description="names of files or folders, anywhere inside, to keep; patterns")
    max_bytes: int = Field(gt=0, description="most bytes that may come out")
    max_files: int = Field(gt=0, description="most files and folders that may come out")


class Source(_Model):
    """What is known of a publisher's server and files."""

    name: str
    homepage: str
    licence: str
    address: str = Field(
        pattern=r"^https://[^@\s]+/$", description="https address that paths are relative to; ends with /"
    )
    n_bytes: int = Field(gt=0, description="bytes to download, approximately")
    n_files: int = Field(gt=0, description="files to download, approximately")
    notes: tuple[str, ...] = Field(description="what is known and what is not, for people")
    content: Annotated[ChecksumList | FileTable | Archive, Field(discriminator="kind")]


@dataclass(frozen=True)
class RemoteFile:
    """One file to download: path relative to address and folder, checksum and size where known."""

    path: str
    sha256: str | None = None
    n_bytes: int | None = None


def names() -> list[str]:
    """Return the datasets that can be fetched, in alphabetical order."""
    entries = (entry.name for entry in _FOLDER.iterdir())
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def how_to_get(facts: DatasetFacts) -> str:
    """Say where a dataset's files can be had, for messages."""
    if facts.name in names():
        return f"get {facts.title} with 'bench data fetch {facts.name}' or from {facts.homepage}"
    if facts.homepage.startswith("http"):
        return f"get {facts.title} from {facts.homepage}"
    return f"get {facts.title} from where it came from"


def source(name: str, base_address: str | None = None) -> Source:
    """Return the source of a dataset, with another base address if given.

    Raises
    ------
    UsageError
        The dataset cannot be fetched, or the address is neither https nor http on this machine.
    """
    if name not in names():
        raise unknown_name("source to fetch", name, names())
    text = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    found = Source.model_validate(tomllib.loads(text))
    if base_address is None:
        return found
    address = base_address if base_address.endswith("/") else f"{base_address}/"
    if not is_allowed(address):
        raise UsageError(f"address '{base_address}' to fetch {name}: must start with https://")
    return found.model_copy(update={"address": address})


def is_allowed(address: str) -> bool:
    """Tell whether an address may be fetched from: https, or http on this machine's own loopback."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if not parts.hostname or parts.username or parts.password:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(address))


def is_loopback(address: str) -> bool:
    """Tell whether an address is on this machine."""
    return urlsplit(address).hostname in _LOOPBACK


def address_of(source: Source, path: str) -> str:
    """Return the full address of a file."""
    # An archive's path may carry a query, as services that pack on demand want it.
    return source.address + quote(path, safe="/+?=&" if isinstance(source.content, Archive) else "/")


def is_wanted(path: str, include: tuple[str, ...]) -> bool:
    """Tell whether a path matches one of the patterns."""
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in include)


def read_table(name: str) -> list[RemoteFile]:
    """Return the files of a table in this package."""
    rows = csv.DictReader((_FOLDER / name).read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return [
        RemoteFile(row["path"], row["sha256"] or None, int(row["size_bytes"] or 0) or None) for row in rows
    ]


def listed_checksums(text: str) -> tuple[list[RemoteFile], list[tuple[int, str]]]:
    """Return the files of a list of checksums, and the lines (number, text) that are none; empty lines are neither."""
    found: list[RemoteFile] = []
    wrong: list[tuple[int, str]] = []
    for row, line in enumerate(text.splitlines(), start=1):
        match = _CHECKSUM_LINE.fullmatch(line.strip())
        if match and inside(match[2]) is not None:
            found.append(RemoteFile(match[2], match[1].lower()))
        elif line.strip():
            wrong.append((row, line))
    return found, wrong
