"""Splits by subject: the published lists, their rules on the subjects present, and our own for other studies.

Lists and rules are those of the loaders of DL4mHealth/Medformer at 891f65b; for UCI-HAR and Sleep-EDF, where no
split by subject is published, they are ours and say so.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

import numpy as np

from bench.datasets.cache.manifest import SubjectSummary
from bench.datasets.contract import Kind, Split
from bench.datasets.formats.source_files import is_there
from bench.datasets.registry import entry, facts
from bench.errors import DataError, UsageError

# Percent of the subjects of a class, in source order, at which training and validation end.
_CUTS_PERCENT = {"adftd": (60, 80), "ptb": (55, 70), "ptb-xl": (60, 80)}
_STRATIFIED_PERCENT = (60, 80)
# Datasets whose rule names subjects for validation and test; all others train.
_FIXED = ("apava", "sleep-edf", "uci-har")
PARTS = ("train", "validation", "test")
_FOLD = re.compile(r"fold[ -]([0-9]{1,4})/([0-9]{1,4})")


def make_split(
    name: str,
    subjects: Sequence[SubjectSummary],
    how: str = "published",
    seed: int = 41,
    *,
    kind: Kind = "excerpt",
) -> Split:
    """Split the subjects of a dataset into training, validation and test.

    Parameters
    ----------
    name
        A registered dataset.
    subjects
        The manifest's subjects, in source order.
    how
        ``published``: the published list where the subjects are exactly the published dataset's, else the same
        rule on those present; where nothing is published the list is ours, and a user's own dataset is split as its
        description says, else like ``stratified``.
        ``stratified``: 60/20/20 percent of the subjects of each class, drawn by ``seed``. ``fold k/n``: the
        k-th of n folds tests, the next one validates; the n test parts of one seed are disjoint.
    seed
        Used by ``stratified`` and ``fold`` alone, and by ``published`` for a user's own dataset.
    kind
        What the windows are by their provenance. It changes the origin alone: ``published`` and ``ours`` are said
        of the whole dataset's split; the same subjects with other windows are split by ``rule``.

    Raises
    ------
    DataError
        A part would be empty, a subject occurs twice, or all windows of a user's dataset are of one class.
    UsageError
        ``how`` is none of these.
    """
    names = [subject.name for subject in subjects]
    if len(set(names)) != len(names):
        twice = next(other for other in names if names.count(other) > 1)
        raise DataError(f"{name}: subject '{twice}' is listed twice; prepare the dataset again")
    _refuse_one_class(name, subjects)
    fold = _FOLD.fullmatch(how)
    if fold:
        split = _fold(subjects, int(fold[1]), int(fold[2]), seed)
    elif how == "published":
        split = _published(name, subjects, seed, kind)
    elif how == "stratified":
        shuffled = _shuffled_classes(subjects, seed)
        split = _in_parts(f"stratified-{seed}", names, _cut_classes(shuffled, _STRATIFIED_PERCENT))
    else:
        raise UsageError(f"split '{how}' is not known; use published, stratified or 'fold k/n'")
    _refuse_empty(name, split, how, names)
    return split


@cache
def published_list(name: str) -> dict[str, tuple[str, ...]] | None:
    """Return the listed subjects of each part, None where no list exists (PTB-XL has a rule only)."""
    content = _list_file(name)
    return None if content is None else {part: tuple(content[part]) for part in PARTS}


def published_windows(name: str) -> dict[str, tuple[int, ...]] | None:
    """Return the published windows per class of each part, None where they are not known."""
    content = _list_file(name) or {}
    counts = content.get("windows_per_class")
    return None if counts is None else {part: tuple(counts[part]) for part in PARTS}


def published_totals(name: str) -> tuple[int, ...] | None:
    """Return the published windows of each class in the whole dataset, None where they are not known."""
    total = (_list_file(name) or {}).get("windows_per_class_in_all")
    parts = published_windows(name)
    if total is None and parts is not None:
        total = [sum(column) for column in zip(*parts.values(), strict=True)]
    return None if total is None else tuple(total)


@cache
def _list_file(name: str) -> dict | None:
    file = resources.files("bench.datasets") / "published_splits" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _published(name: str, subjects: Sequence[SubjectSummary], seed: int, kind: Kind) -> Split:
    names = [subject.name for subject in subjects]
    if entry(name).is_own:
        return _given(name, names) or make_split(name, subjects, "stratified", seed)
    listed = published_list(name)
    if listed is not None and set(names) == {subject for part in PARTS for subject in listed[part]}:
        part_of = {subject: part for part in PARTS for subject in listed[part]}
        origin = (_list_file(name) or {})["origin"] if kind == "whole" else "rule"
        return _in_parts(origin, names, part_of)
    if name in _FIXED and listed is not None:
        fixed = {subject: part for part in ("validation", "test") for subject in listed[part]}
        return _in_parts("rule", names, {subject: fixed.get(subject, "train") for subject in names})
    if name in _CUTS_PERCENT:
        origin = "published" if listed is None and kind == "whole" else "rule"
        return _in_parts(origin, names, _cut_classes(_classes(subjects), _CUTS_PERCENT[name]))
    raise UsageError(f"{name} has no split: {facts(name).split_rule}")


def _given(name: str, names: Sequence[str]) -> Split | None:
    """Return the split that an imported dataset's description gives; None if it gives none.

    Raises
    ------
    DataError
        A subject is in no part, or a part names one that is not there.
    """
    from bench.datasets.own.description import DESCRIPTION, read_description

    folder = entry(name).folder
    if folder is None or not is_there(folder / DESCRIPTION):
        return None
    given = read_description(folder / DESCRIPTION).split
    if given is None:
        return None
    part_of = given.part_of
    for subject in (*names, *part_of):
        if subject not in part_of or subject not in names:
            where = "is in no part of" if subject in names else "has no windows but is named in"
            raise DataError(
                f"{folder / DESCRIPTION}: subject '{subject}' {where} [split]; name each subject in one part"
            )
    return _in_parts("given", names, part_of)


def _classes(subjects: Iterable[SubjectSummary]) -> dict[int, list[str]]:
    """Group the subjects' names by class, in source order; -1 holds those with windows of several classes."""
    groups: dict[int, list[str]] = defaultdict(list)
    for subject in subjects:
        groups[-1 if subject.label is None else subject.label].append(subject.name)
    return dict(sorted(groups.items()))


def _shuffled_classes(subjects: Sequence[SubjectSummary], seed: int) -> dict[int, list[str]]:
    generator = np.random.default_rng(seed)
    return {
        label: [group[i] for i in generator.permutation(len(group))]
        for label, group in _classes(subjects).items()
    }


def _cut_classes(groups: dict[int, list[str]], percent: tuple[int, int]) -> dict[str, str]:
    part_of: dict[str, str] = {}
    for group in groups.values():
        first, second = (len(group) * share // 100 for share in percent)
        for position, subject in enumerate(group):
            part_of[subject] = "train" if position < first else "validation" if position < second else "test"
    return part_of


def _fold(subjects: Sequence[SubjectSummary], k: int, n: int, seed: int) -> Split:
    if not (n >= 3 and 1 <= k <= n):
        raise UsageError(f"split 'fold {k}/{n}': needs at least 3 folds and 1 <= k <= n")
    # Dealt out across the classes without starting anew, so that folds differ by one subject at most.
    dealt = [subject for group in _shuffled_classes(subjects, seed).values() for subject in group]
    test, validation = k - 1, k % n
    part_of = {
        subject: {test: "test", validation: "validation"}.get(i % n, "train")
        for i, subject in enumerate(dealt)
    }
    return _in_parts(f"fold-{k}/{n}-{seed}", [subject.name for subject in subjects], part_of)


def _in_parts(origin: str, names: Iterable[str], part_of: dict[str, str]) -> Split:
    parts: dict[str, list[str]] = {part: [] for part in PARTS}
    for name in names:
        parts[part_of[name]].append(name)
    return Split(origin, **{part: tuple(members) for part, members in parts.items()})


def _refuse_one_class(name: str, subjects: Sequence[SubjectSummary]) -> None:
    """Refuse a user's dataset that every model would tell perfectly; a publisher's is an excerpt, and says so."""
    labels = {subject.label for subject in subjects}
    if entry(name).is_own and len(labels) == 1 and None not in labels:
        raise DataError(
            f"{name}: all windows are of one class, so that every model would score 100 percent; windows of at least "
            "two classes are needed"
        )


def _refuse_empty(name: str, split: Split, how: str, names: Sequence[str]) -> None:
    for part in PARTS:
        if getattr(split, part):
            continue
        listed = published_list(name) if how == "published" and name in _FIXED else None
        need = f"one of the subjects {', '.join(listed[part])}" if listed else "more subjects"
        other = ", or use the split 'stratified'" if how == "published" and not entry(name).is_own else ""
        raise DataError(
            f"{name}: the {part} part of split '{split.origin}' is empty with {len(names)} subjects; it needs "
            f"{need}{other}"
        )
