"""The reproducibility checklist of a report, filled from its records.

The order is that of the usual machine-learning checklists: models, data, code, experiments and their infrastructure.
Facts absent from the records are listed as missing; facts that the protocol fixes for every cell are listed as such.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.paper.names import short_name
from bench.render.formats import escape_markdown
from bench.report.commands import changed_settings, commands
from bench.report.contents import Contents
from bench.report.evidence import coverage
from bench.results.record import Record
from bench.stats.draws import LEVEL
from bench.stats.summary import DDOF
from bench.studies import kinds
from bench.studies.caption import devices, numbers, plural


@dataclass(frozen=True)
class Answer:
    """One line of the checklist."""

    question: str
    answers: tuple[str, ...]


Checklist = Mapping[str, Sequence[Answer]]
"""Answers by heading."""


def checklist(contents: Contents) -> Checklist:
    """Return the filled checklist."""
    records = contents.records
    return {
        "Models": _models(records),
        "Data": _data(records),
        "Code and environment": _code(records),
        "Experiments": _experiments(records),
        "Infrastructure and compute": _compute(records),
        "What is missing": _missing(contents),
    }


def to_markdown(contents: Contents) -> str:
    """Return the checklist as a document."""
    lines = ["# Reproducibility", "", "Filled from the records of the cells."]
    for heading, answers in checklist(contents).items():
        lines.extend(["", f"## {heading}", ""])
        for answer in answers:
            lines.append(f"- **{answer.question}**")
            lines.extend(f"  - {escape_markdown(text)}" for text in answer.answers)
    return "\n".join(lines) + "\n"


def _models(records: Sequence[Record]) -> list[Answer]:
    sizes: dict[str, set[str]] = defaultdict(set)
    for record in records:
        if record.parameters:
            dataset = short_name(record.cell.dataset)
            sizes[record.cell.model].add(f"{dataset} {record.parameters.forward:,}")
    revisions = sorted(
        {
            f"{record.cell.model} {record.revisions['model']} (trainer {record.revisions['trainer']})"
            for record in records
        }
    )
    return [
        Answer(
            "Models and their trainable parameters in the forward pass",
            tuple(f"{model}: {'; '.join(sorted(found))}" for model, found in sorted(sizes.items()))
            or ("no cell has finished",),
        ),
        Answer("Revisions of the code of each model", ("; ".join(revisions),)),
    ]


def _data(records: Sequence[Record]) -> list[Answer]:
    answers = []
    found = {
        (record.cell.dataset, record.data.fingerprint, record.data.split_origin): record for record in records
    }
    for (dataset, fingerprint, origin), record in sorted(found.items()):
        data = record.data
        parts = "; ".join(
            f"{name} {plural(part.n_subjects, 'subject')}, {plural(part.n_windows, 'window')}"
            for name, part in data.parts.items()
        )
        answers.append(
            Answer(
                f"{short_name(dataset)}: {data.title}",
                (
                    f"{kinds.sentence(data)}, version {data.version}, fingerprint of the windows {fingerprint}",
                    f"split {origin}, by subject: {parts}",
                    f"normalisation {data.normalisation}; classes {', '.join(data.class_names)}",
                    f"damaged source records skipped: {data.n_skipped_records}",
                ),
            )
        )
    return answers


def _code(records: Sequence[Record]) -> list[Answer]:
    versions = {
        ", ".join(f"{k} {v}" for k, v in sorted(record.environment.versions.items())) for record in records
    }
    settings = {
        f"{plural(record.environment.threads, 'thread')}, {record.environment.precision}, scan backend "
        f"{record.environment.scan_backend or 'none'}, "
        f"{'deterministic' if record.environment.deterministic else 'not deterministic'}"
        for record in records
    }
    return [
        Answer("Libraries", tuple(sorted(versions))),
        Answer("Platform", tuple(sorted({record.environment.platform for record in records}))),
        Answer("Execution", tuple(sorted(settings))),
    ]


def _experiments(records: Sequence[Record]) -> list[Answer]:
    return [
        Answer("Commands that give these cells (DIR: the folder of the datasets)", tuple(commands(records))),
        Answer("Seeds", (numbers(sorted({record.cell.seed for record in records})),)),
        Answer("Changed settings", _changes(records)),
        Answer(
            "Choice of hyperparameters",
            ("the page and the record of each cell have every value and its origin",),
        ),
        Answer(
            "Choice of the epoch",
            ("by the protocol: highest macro F1 on the validation subjects",),
        ),
        Answer(
            "Error bars",
            (
                f"standard deviation over seeds with ddof {DDOF}",
                f"{LEVEL:.0%} intervals for other seeds and other test subjects of differences (jackknife, t)",
            ),
        ),
    ]


def _changes(records: Sequence[Record]) -> tuple[str, ...]:
    changed = Counter(text for record in records for text in changed_settings(record))
    return tuple(f"{text}: {number} cells" for text, number in sorted(changed.items())) or ("none",)


def _compute(records: Sequence[Record]) -> list[Answer]:
    hours = sum(record.whole_time_s for record in records) / 3600
    peak = max((record.peak_memory_bytes or 0 for record in records), default=0)
    slowest = max(records, key=lambda record: record.whole_time_s)
    cell = slowest.cell
    return [
        Answer("Machines", (devices(records),)),
        Answer("Time of all cells together", (f"{hours:.2f} hours, {len(records)} cells",)),
        Answer(
            "Longest cell",
            (f"{cell.model} / {cell.dataset} / seed {cell.seed}: {slowest.whole_time_s:.0f} s",),
        ),
        Answer("Largest peak memory of a cell", (f"{peak / 2**30:.2f} GiB" if peak else "not recorded",)),
    ]


def _missing(contents: Contents) -> list[Answer]:
    failed = [
        f"{record.cell.model} / {record.cell.dataset} / seed {record.cell.seed}: {record.outcome}"
        for record in contents.records
        if not record.is_done
    ]
    lacking = tuple(f"{fact.label}: {fact.text}" for fact in coverage(contents.suites))
    return [
        Answer("Cells that failed", tuple(failed) or ("none",)),
        Answer("Cells that the grid lacks", lacking or ("no cell of the paper's grid",)),
        Answer("Files that could not be used", contents.damages or ("none",)),
    ]
