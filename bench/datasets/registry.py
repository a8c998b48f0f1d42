"""The table of datasets, free of torch and of file readers."""

import importlib
from dataclasses import dataclass
from pathlib import Path

from bench import plugins
from bench.datasets.contract import DatasetFacts, Reader
from bench.datasets.formats.source_files import file_names, is_folder
from bench.errors import DataError, unknown_name


@dataclass(frozen=True)
class DatasetEntry:
    """What the registry knows of a dataset without importing it.

    ``in_all`` says whether ``--datasets all`` runs it. A user's own has ``path``, the file of its reader, or
    ``folder``, where it was imported to.
    """

    name: str
    module: str
    in_all: bool = True
    path: Path | None = None
    folder: Path | None = None

    @property
    def is_own(self) -> bool:
        """Tell whether a user brought the dataset, so that nothing of it is published."""
        return self.path is not None or self.folder is not None


_ENTRIES = [
    DatasetEntry("adftd", "bench.datasets.adftd"),
    DatasetEntry("apava", "bench.datasets.apava"),
    DatasetEntry("ptb", "bench.datasets.ptb"),
    DatasetEntry("ptb-xl", "bench.datasets.ptb_xl"),
    DatasetEntry("uci-har", "bench.datasets.uci_har"),
    DatasetEntry("sleep-edf", "bench.datasets.sleep_edf"),
    # Data for the centralization table only: no classes, no split.
    DatasetEntry("weather", "bench.datasets.weather", in_all=False),
]


def _table(entries: list[DatasetEntry]) -> dict[str, DatasetEntry]:
    table: dict[str, DatasetEntry] = {}
    for one in entries:
        if one.name in table:
            raise DataError(
                f"dataset '{one.name}' is registered twice: by {table[one.name].module} and {one.module}; "
                "rename one of them"
            )
        table[one.name] = one
    return table


_TABLE = _table(_ENTRIES)


def names(*, all_only: bool = False) -> list[str]:
    """Return the registered names in alphabetical order; only those that ``all`` stands for if asked."""
    return sorted(name for name, one in _TABLE.items() if one.in_all or not all_only)


def entry(name: str) -> DatasetEntry:
    """Return the entry of a name.

    Raises
    ------
    UsageError
        The name is not registered; the message offers the nearest one.
    """
    if name not in _TABLE:
        raise unknown_name("dataset", name, _TABLE)
    return _TABLE[name]


def register(one: DatasetEntry) -> str:
    """Register a dataset and return its name; the same again changes nothing.

    Raises
    ------
    DataError
        The name is taken.
    """
    known = _TABLE.setdefault(one.name, one)
    if known != one:
        raise DataError(
            f"dataset '{one.name}' is registered already, by {known.path or known.module}; rename one"
        )
    return one.name


def register_file(file: str) -> str:
    """Register a user's own reader, a Python file with FACTS, REVISION, records and cut; return its name.

    Raises
    ------
    UsageError
        There is no such file.
    DataError
        It lacks a part or fails, or the name is taken.
    """
    path = plugins.existing(file)
    facts_of = load_reader(DatasetEntry(path.stem, "", path=path)).FACTS
    return register(DatasetEntry(facts_of.name, plugins.module_name(path), in_all=False, path=path))


def register_imported(root: Path) -> list[str]:
    """Register the imported datasets below a folder and return their names.

    Raises
    ------
    DataError
        The folder cannot be listed, or a name is taken.
    """
    from bench.datasets.own.imported import is_imported

    folders = [root / name for name in file_names(root)] if is_folder(root) else []
    return [
        register(
            DatasetEntry(folder.name, "bench.datasets.own.imported", in_all=False, folder=folder.resolve())
        )
        for folder in folders
        if is_imported(folder)
    ]


def load_reader(one: DatasetEntry) -> Reader:
    """Return the reader of an entry, in whatever process; a user's own file is not imported into a parent.

    Raises
    ------
    DataError
        The file lacks a part of a reader or fails, or the imported folder is unusable or was renamed.
    """
    if one.folder is not None:
        from bench.datasets.own.imported import reader_of

        imported = reader_of(one.folder)
        if imported.FACTS.name != one.name:
            raise DataError(
                f"{one.folder}: the folder is named '{one.name}', its dataset.toml says name = "
                f"'{imported.FACTS.name}'; make them equal"
            )
        return imported
    if one.path is not None:
        from bench.datasets.own.own_file import own_reader

        return own_reader(one.path)
    module = importlib.import_module(one.module)
    missing = [part for part in ("FACTS", "REVISION", "records", "cut") if not hasattr(module, part)]
    if missing:
        raise DataError(f"{module.__file__}: a dataset's file must define {', '.join(missing)}")
    return module  # pyright: ignore[reportReturnType] a module that has the four parts is a Reader


def reader(name: str) -> Reader:
    """Return what reads a dataset.

    Raises
    ------
    UsageError
        The name is not registered.
    """
    return load_reader(entry(name))


def facts(name: str) -> DatasetFacts:
    """Return what is known of a published dataset before any file is read.

    Raises
    ------
    UsageError
        The name is not registered.
    """
    return reader(name).FACTS
