"""Pages of the site that the package fills: of datasets, of groups of models, of the API, and the files at the top."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from bench import datasets
from bench.models import registry
from bench.models.catalogue import ModelEntry
from bench.settings import tables

ROOT = Path(__file__).parents[2]
GROUPS = {
    "paper": (
        "Models of the paper",
        "MedMamba and the eleven transformers; `--models all` stands for these twelve.",
    ),
    "variant": ("Variants", "MedMamba's ablations, and the later version of Medformer: `--models variants`."),
    "beyond": ("Beyond the paper", "Networks that the paper leaves out: `--models beyond`."),
    "classical": ("Classical estimators", "Classifiers that are no networks: `--models classical`."),
}
API = {
    "bench": ("From Python", ["bench.api", "bench.studies.tidy", "bench.datasets.split_arrays"]),
    "records": ("Records", ["bench.results.record", "bench.results.predictions", "bench.results.store"]),
    "contracts": (
        "Contracts",
        ["bench.datasets.contract", "bench.analyses.contract", "bench.models.registry", "bench.errors"],
    ),
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the pages that are made here their places."""
    added = {
        "Datasets": [f"datasets/{name}.md" for name in datasets.names()],
        "Models": [f"models/{group}.md" for group in _groups()],
        "Python": [f"api/{name}.md" for name in API],
    }
    for item in config.nav or []:
        for title, pages in item.items() if isinstance(item, dict) else ():
            pages.extend(added.get(title, []))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for path, text in _pages():
        files.append(File.generated(config, path, content=text))
    return files


def _pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = re.search(r"^## Words\n(.*?)(?=^## )", contributing, re.MULTILINE | re.DOTALL)
    if words is None:
        raise LookupError("CONTRIBUTING.md: no section 'Words', which is the glossary's page")
    yield "contributing.md", contributing
    yield (
        "glossary.md",
        f"# Glossary\n\nEach word has one meaning, in texts, names of files and names in code.\n{words[1]}",
    )
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in datasets.names():
        yield f"datasets/{name}.md", _dataset(name)
    for group, entries in _groups().items():
        yield f"models/{group}.md", _group(group, entries)
    for name, (title, modules) in API.items():
        yield f"api/{name}.md", f"# {title}\n\n" + "\n\n".join(f"::: {module}" for module in modules) + "\n"


def _dataset(name: str) -> str:
    facts = datasets.facts(name)
    card = {
        key.replace("_", " "): _text(value) for key, value in asdict(facts).items() if value not in (None, ())
    }
    return (
        f"# {name}\n\n{facts.title}, version {facts.version}.\n\n"
        f"    bench data fetch {name} --data DIR\n    bench data verify {name} --data DIR\n"
        f"    bench run --models medmamba --datasets {name} --data DIR\n\n"
        "Where files lie and how to bring your own: [Datasets](../datasets.md).\n\n"
        f"{_table(('of the dataset', 'value'), card.items())}\n\n::: {datasets.entry(name).module}\n"
    )


def _groups() -> dict[str, list[ModelEntry]]:
    """Return the package's models by their group."""
    found: dict[str, list[ModelEntry]] = defaultdict(list)
    for name in registry.names():
        entry = registry.entry(name)
        if not entry.is_own:
            found[entry.group].append(entry)
    return {group: found[group] for group in GROUPS if group in found}


def _group(group: str, entries: list[ModelEntry]) -> str:
    title, sentence = GROUPS[group]
    parts = [f"# {title}\n\n{sentence} Sizes, speed and protocols: [Models](../models.md)."]
    described: set[str] = set()
    for entry in entries:
        parts.append(
            f"## {entry.name}\n\n{entry.family}: {entry.paper}; code {entry.repository}@{entry.commit}. {entry.notes}"
        )
        parts.append(_table(("hyperparameter", "value"), _published(entry).items()))
        if entry.module not in described:
            described.add(entry.module)
            parts.append(f"::: {entry.module}\n    options:\n      heading_level: 3")
    return "\n\n".join(parts) + "\n"


def _published(entry: ModelEntry) -> dict[str, Any]:
    """Return the published hyperparameters of a model that differ by no dataset, and what defines a variant."""
    table = tables.hyperparameter_table(entry.settings)
    return {**({} if table is None else table.default), **entry.overrides}


def _table(headings: tuple[str, str], rows: Iterable[tuple[str, Any]]) -> str:
    lines = [f"| {headings[0]} | {headings[1]} |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {_text(value)} |" for name, value in rows)])


def _text(value: Any) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return text.replace("|", "\\|")
