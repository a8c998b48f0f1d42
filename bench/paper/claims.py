"""The claims ledger: the paper's claims, their tests, and the verdicts computed so far.

`claims.toml` holds the claims of the text, the figures and the captions; every printed cell of a table is a
claim too and is made here from `published.py`. A verdict is never stored. `judge` asks, in this order:

1. the paper's own numbers (`claim_checks.py`): a claim that they refute needs no experiment;
2. a judge of records, if the caller has one for what the claim needs;
3. else the verdict is that records are needed, or the reason why they cannot be made.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from bench.paper import published
from bench.paper.claim_checks import CHECKS, Finding, Verdict


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, paraphrased.

    `check` names a function of `claim_checks.py` and holds its arguments; `about` holds the names and numbers
    that a judge of records compares; `command` is set if it is narrower than the command of `needs`.
    """

    id: str
    place: str
    text: str
    value: str
    kind: str
    needs: str
    about: Mapping[str, Any] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True)
class Need:
    """The records that can decide a claim: the command that makes them, or why they cannot be made."""

    command: str
    unobtainable: str = ""


@dataclass(frozen=True)
class Ruling:
    """A verdict and the numbers or the reason behind it."""

    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    claim: Claim
    command: str
    ruling: Ruling


_HYPERPARAMETERS = (
    "d_model",
    "n_layers",
    "expand",
    "ffn_expansion",
    "strides",
    "dropout",
    "drop_path",
    "channel_dropout",
)
_IN_CODE = ("ffn_expansion",)

RecordJudge = Callable[[Claim], Ruling | None]
"""Rules on a claim from records; returns None if they do not decide it."""


def ledger(judges: Mapping[str, RecordJudge] | None = None) -> tuple[Entry, ...]:
    """Return every claim with its command and its verdict, the text's claims before the tables' cells.

    `judges` maps a key of `needs()` (cells, ablation, efficiency, ...) to the judge of such records.
    """
    judges = judges or {}
    return tuple(
        Entry(claim, claim.command or needs()[claim.needs].command, judge(claim, judges.get(claim.needs)))
        for claim in (*text_claims(), *cell_claims())
    )


def tally(entries: Iterable[Entry]) -> dict[Verdict, int]:
    """Return how many entries have each verdict, all verdicts included, in the order of `Verdict`."""
    counts = Counter(entry.ruling.verdict for entry in entries)
    return {verdict: counts[verdict] for verdict in Verdict}


def judge(claim: Claim, records: RecordJudge | None = None) -> Ruling:
    """Return the verdict on one claim, from the paper's own numbers first and from records second."""
    finding = _own_numbers(claim)
    if finding and not finding.holds:
        return Ruling(finding.failure, finding.evidence)
    if finding and claim.needs == "arithmetic":
        return Ruling(Verdict.REPRODUCED, finding.evidence)
    ruling = records(claim) if records else None
    if ruling:
        return ruling
    consistent = f"the paper's own numbers agree ({finding.evidence})" if finding else ""
    need = needs()[claim.needs]
    if need.unobtainable:
        reasons = (need.unobtainable, consistent)
        return Ruling(Verdict.NOT_CHECKABLE, "; ".join(reason for reason in reasons if reason))
    return Ruling(Verdict.NEEDS_RECORDS, consistent)


@cache
def needs() -> dict[str, Need]:
    """Return every `Need` by the key that claims use."""
    return {name: Need(**need) for name, need in _ledger_file()["needs"].items()}


@cache
def text_claims() -> tuple[Claim, ...]:
    """Return the claims of the text, the figures and the captions, in the order of the paper."""
    return tuple(Claim(**claim) for claim in _ledger_file()["claim"])


@cache
def cell_claims() -> tuple[Claim, ...]:
    """Return one claim per printed cell of the paper's tables; printed losses of the ablation are cells too."""
    return (
        *_score_claims(),
        *_ablation_claims(),
        *_loss_claims(),
        *_centralization_claims(),
        *_dataset_claims(),
        *_configuration_claims(),
    )


def _own_numbers(claim: Claim) -> Finding | None:
    if not claim.check:
        return None
    arguments = dict(claim.check)
    return CHECKS[arguments.pop("name")](**arguments)


def _score_claims() -> Iterable[Claim]:
    means = {(cell.dataset, cell.model, cell.metric): cell.mean for cell in published.main_results()}
    for cell in published.main_results():
        row = {metric: means[cell.dataset, cell.model, metric] for metric in published.METRICS}
        yield _score_claim(
            cell, f"{cell.place}/{cell.dataset}/{cell.model}", "cells", cell.dataset, cell.model, row
        )


def _ablation_claims() -> Iterable[Claim]:
    means = {(cell.variant, cell.metric): cell.mean for cell in published.ablation()}
    for cell in published.ablation():
        row = {metric: means[cell.variant, metric] for metric in published.METRICS}
        yield _score_claim(
            cell, f"{cell.place}/{cell.variant}", "ablation", published.ABLATION_DATASET, cell.variant, row
        )


def _score_claim(
    cell: published.PublishedScore | published.PublishedAblation,
    where: str,
    needs: str,
    dataset: str,
    model: str,
    row: Mapping[str, float],
) -> Claim:
    """Return the claim of one printed score; ``row`` holds all of the model's printed means there."""
    f1_check = {"name": "f1_bound", **{metric: row[metric] for metric in ("f1", "precision", "recall")}}
    return Claim(
        id=f"{where}/{cell.metric}",
        place=cell.place,
        text=f"{cell.metric} of {model} on {dataset}",
        value=f"{cell.mean:.2f} ± {cell.std:.2f} %",
        kind="number",
        needs=needs,
        about={
            "dataset": dataset,
            "model": model,
            "metric": cell.metric,
            "mean": cell.mean,
            "std": cell.std,
        },
        check=f1_check if cell.metric == "f1" else {},
        command=f"bench run --models {model} --datasets {dataset}",
    )


def _loss_claims() -> Iterable[Claim]:
    for cell in published.ablation():
        if cell.drop is None:
            continue
        yield Claim(
            id=f"{cell.place}/{cell.variant}/{cell.metric}/loss",
            place=cell.place,
            text=f"{cell.metric} that {cell.variant} loses against the full model on {published.ABLATION_DATASET}",
            value=f"-{cell.drop:.2f}",
            kind="number",
            needs="ablation",
            check={
                "name": "loses",
                "variant": cell.variant,
                "metric": cell.metric,
                "mean": cell.mean,
                "loss": cell.drop,
            },
            command=f"bench run --models medmamba,{cell.variant} --datasets {published.ABLATION_DATASET}",
        )


def _centralization_claims() -> Iterable[Claim]:
    for row in published.centralization():
        for index in ("sci", "dic"):
            yield Claim(
                id=f"{row.place}/{row.dataset}/{index}",
                place=row.place,
                text=f"{index.upper()} of {row.dataset}",
                value=f"{getattr(row, index):.2f}",
                kind="number",
                needs="centralization",
                about={"dataset": row.dataset, "index": index, "value": getattr(row, index)},
            )


def _dataset_claims() -> Iterable[Claim]:
    for row in published.dataset_summary():
        for count in ("n_subjects", "n_windows", "n_classes", "n_channels", "n_times"):
            yield Claim(
                id=f"{row.place}/{row.dataset}/{count}",
                place=row.place,
                text=f"{count} of {row.dataset}",
                value=f"{getattr(row, count):,}",
                kind="count",
                needs="data",
                about={"rule": "counts", "dataset": row.dataset, "counts": {count: getattr(row, count)}},
                command=f"bench run --models medmamba --datasets {row.dataset}",
            )
        yield Claim(
            id=f"{row.place}/{row.dataset}/modality",
            place=row.place,
            text=f"modality of {row.dataset}",
            value=row.modality,
            kind="name",
            needs="files",
        )


def _configuration_claims() -> Iterable[Claim]:
    for row in published.model_configuration():
        for name in _HYPERPARAMETERS:
            value = getattr(row, name)
            stated = list(value) if isinstance(value, tuple) else value
            yield Claim(
                id=f"{row.place}/{row.dataset}/{name}",
                place=row.place,
                text=f"{name} of medmamba on {row.dataset}",
                value=", ".join(map(str, stated)) if isinstance(stated, list) else f"{stated:g}",
                kind="number",
                needs="code" if name in _IN_CODE else "setup",
                about={"rule": "hyperparameters", "datasets": [row.dataset], "values": {name: stated}},
                command=f"bench run --models medmamba --datasets {row.dataset}",
            )


@cache
def _ledger_file() -> dict[str, Any]:
    """Return the parsed ledger; a malformed file is a defect of the package."""
    return tomllib.loads((files("bench.paper") / "claims.toml").read_text(encoding="utf-8"))
