"""Splits: the published lists, their rules on subjects present, and our own by seed and by fold."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets import make_split
from bench.datasets.cache.manifest import SubjectSummary
from bench.datasets.contract import Kind
from bench.datasets.registry import _TABLE, DatasetEntry
from bench.datasets.splits import PARTS, published_list, published_windows
from bench.errors import DataError, UsageError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "splits.json").read_text(encoding="utf-8"))


def subject(name: str, label: int | None, n_windows: int = 1, n_classes: int = 5) -> SubjectSummary:
    counts = tuple(n_windows if one == label else 0 for one in range(n_classes))
    return SubjectSummary(name=name, label=label, windows_per_class=counts)


def ptb_subjects() -> list[SubjectSummary]:
    return [subject(one["patient"], one["label"], one["n_samples"], 2) for one in GOLDEN["PTB"]["subjects"]]


def adftd_subjects() -> list[SubjectSummary]:
    return [subject(f"sub-{i:03d}", 2 if i <= 36 else 0 if i <= 65 else 1) for i in range(1, 89)]


def numbered(ids: Sequence[int], label: int | None = None) -> list[SubjectSummary]:
    return [subject(str(i), label) for i in ids]


def sleepers(ids: Sequence[int]) -> list[SubjectSummary]:
    return [subject(f"SC4{i:02d}", None) for i in ids]


def test_ptb_split_is_the_published_list() -> None:
    split = make_split("ptb", ptb_subjects(), kind="whole")
    patient = {one["id"]: one["patient"] for one in GOLDEN["PTB"]["subjects"]}
    assert split.origin == "published"
    for part, key in zip(PARTS, ("train", "val", "test"), strict=True):
        ids = GOLDEN["PTB"][key]["healthy_ids"] + GOLDEN["PTB"][key]["mi_ids"]
        assert set(getattr(split, part)) == {patient[i] for i in ids}


def test_ptb_rule_gives_the_published_list() -> None:
    # One subject more, at the end of its class's test part, and the rule is used instead of the list.
    by_rule = make_split("ptb", [*ptb_subjects(), subject("patient999", 0)], kind="whole")
    listed = published_list("ptb")
    assert listed is not None
    assert by_rule.origin == "rule"
    assert set(by_rule.train) == set(listed["train"])


def test_ptb_counts_of_windows_are_the_published_ones() -> None:
    windows = published_windows("ptb")
    assert windows is not None
    assert {part: sum(windows[part]) for part in PARTS} == {"train": 41995, "validation": 12993, "test": 9368}


def test_apava_split_is_the_published_list() -> None:
    split = make_split("apava", numbered(range(1, 24)), kind="whole")
    assert split.origin == "published"
    assert set(split.validation) == {str(i) for i in GOLDEN["APAVA"]["val"]["ids"]}
    assert set(split.test) == {str(i) for i in GOLDEN["APAVA"]["test"]["ids"]}
    assert len(split.train) == 15


def test_adftd_split_is_the_published_list() -> None:
    split = make_split("adftd", adftd_subjects(), kind="whole")
    assert split.origin == "published"
    for part, key in zip(PARTS, ("train", "val", "test"), strict=True):
        golden = GOLDEN["ADFTD"][key]
        ids = golden["control_ids"] + golden["ftd_ids"] + golden["ad_ids"]
        assert set(getattr(split, part)) == {f"sub-{i:03d}" for i in ids}


def test_adftd_rule_gives_the_published_list_of_other_classes() -> None:
    without_one = [one for one in adftd_subjects() if one.name != "sub-001"]
    listed, by_rule = published_list("adftd"), make_split("adftd", without_one, kind="whole")
    assert listed is not None
    assert by_rule.origin == "rule"
    patients_with_alzheimer = {f"sub-{i:03d}" for i in range(1, 37)}
    for part in PARTS:
        others = set(getattr(by_rule, part)) - patients_with_alzheimer
        assert others == set(listed[part]) - patients_with_alzheimer


def test_ptb_xl_is_cut_per_class_in_patient_order() -> None:
    subjects = [subject(str(i), i % 2) for i in range(1, 23)]
    split = make_split("ptb-xl", subjects)
    assert split.train == tuple(str(i) for i in range(1, 13))
    assert split.validation == tuple(str(i) for i in range(13, 17))
    assert split.test == tuple(str(i) for i in range(17, 23))


def test_ptb_xl_by_its_rule_is_published_when_whole() -> None:
    subjects = [subject(str(i), i % 5) for i in range(50)]
    whole, part = (make_split("ptb-xl", subjects, kind=kind) for kind in ("whole", "excerpt"))
    assert (whole.origin, part.origin) == ("published", "rule")


@pytest.mark.parametrize("kind", ["excerpt", "simulated"])
@pytest.mark.parametrize(
    ("name", "subjects"),
    [("apava", [str(i) for i in range(1, 24)]), ("uci-har", [str(i) for i in range(1, 31)])],
)
def test_published_subjects_with_other_windows_are_split_by_rule(
    name: str, subjects: list[str], kind: Kind
) -> None:
    present = [subject(one, None) for one in subjects]
    by_rule, listed = make_split(name, present, kind=kind), make_split(name, present, kind="whole")
    assert by_rule == replace(listed, origin="rule")
    assert listed.origin != "rule"


def test_own_data_is_split_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_TABLE, "mine", DatasetEntry("mine", "", folder=Path("mine")))
    subjects = [subject(f"s{i}", i % 2) for i in range(40)]
    assert make_split("mine", subjects, seed=3) == make_split("mine", subjects, "stratified", seed=3)


def test_empty_part_of_a_drawn_split_does_not_advise_drawing() -> None:
    with pytest.raises(DataError, match=r"is empty with 1 subjects; it needs more subjects$"):
        make_split("ptb", ptb_subjects()[:1], "stratified")


def test_sleep_edf_split_is_ours() -> None:
    split = make_split("sleep-edf", sleepers(range(20)), kind="whole")
    assert split.origin == "ours"
    assert (split.train[-1], split.validation, split.test) == (
        "SC411",
        ("SC412", "SC413", "SC414", "SC415"),
        ("SC416", "SC417", "SC418", "SC419"),
    )


def test_uci_har_tests_on_the_official_subjects() -> None:
    split = make_split("uci-har", numbered(range(1, 31)), kind="whole")
    assert split.origin == "ours"
    assert split.test == ("2", "4", "9", "10", "12", "13", "18", "20", "24")
    assert split.validation == ("27", "28", "29", "30")


def test_fixed_rule_keeps_to_the_subjects_present() -> None:
    split = make_split("uci-har", numbered([1, 2, 27]))
    assert (split.origin, split.train, split.validation, split.test) == ("rule", ("1",), ("27",), ("2",))


def test_empty_part_names_the_subjects_it_needs() -> None:
    with pytest.raises(DataError, match=r"sleep-edf: the validation part .* SC412, SC413, SC414, SC415"):
        make_split("sleep-edf", sleepers([0, 16]))


def test_empty_part_of_a_cut_asks_for_more_subjects() -> None:
    with pytest.raises(DataError, match="ptb: the train part of split 'rule' is empty with 1 subjects"):
        make_split("ptb", ptb_subjects()[:1])


def test_subject_listed_twice_is_refused() -> None:
    with pytest.raises(DataError, match="subject '7' is listed twice"):
        make_split("ptb-xl", numbered([7, 8, 7], label=0))


def test_dataset_without_classes_has_no_split() -> None:
    with pytest.raises(UsageError, match="weather has no split"):
        make_split("weather", numbered([1, 2, 3]))


@pytest.mark.parametrize("how", ["random", "fold 1", "fold a/b", "fold 1/5 "])
def test_unknown_way_is_refused(how: str) -> None:
    with pytest.raises(UsageError, match="is not known; use published, stratified or 'fold k/n'"):
        make_split("ptb", ptb_subjects(), how)


@pytest.mark.parametrize("how", ["fold 0/5", "fold 6/5", "fold 1/2"])
def test_fold_out_of_range_is_refused(how: str) -> None:
    with pytest.raises(UsageError, match="needs at least 3 folds and 1 <= k <= n"):
        make_split("ptb", ptb_subjects(), how)


def test_stratified_keeps_the_shares_of_classes() -> None:
    split = make_split("ptb", ptb_subjects(), "stratified", seed=3)
    label_of = {one.name: one.label for one in ptb_subjects()}
    assert split.origin == "stratified-3"
    assert [sum(label_of[one] == 1 for one in getattr(split, part)) for part in PARTS] == [88, 29, 30]
    assert [sum(label_of[one] == 0 for one in getattr(split, part)) for part in PARTS] == [30, 10, 11]


def test_stratified_follows_its_seed() -> None:
    first, again, other = (make_split("ptb", ptb_subjects(), "stratified", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.test != other.test


@given(
    labels=st.lists(st.sampled_from([0, 1, 2, None]), min_size=20, max_size=60),
    seed=st.integers(0, 2**31),
    n_folds=st.integers(3, 8),
)
def test_folds_test_every_subject_once(labels: list[int | None], seed: int, n_folds: int) -> None:
    subjects = [subject(f"s{i}", label) for i, label in enumerate(labels)]
    splits = [make_split("ptb-xl", subjects, f"fold {k}/{n_folds}", seed) for k in range(1, n_folds + 1)]
    tested = [one for split in splits for one in split.test]
    assert sorted(tested) == sorted(one.name for one in subjects)
    for split in splits:
        assert sorted(split.train + split.validation + split.test) == sorted(tested)


@given(labels=st.lists(st.integers(0, 3), min_size=40, max_size=80), seed=st.integers(0, 2**31))
def test_stratified_uses_every_subject_once(labels: list[int], seed: int) -> None:
    subjects = [subject(f"s{i}", label) for i, label in enumerate(labels)]
    split = make_split("ptb-xl", subjects, "stratified", seed)
    assert sorted(split.train + split.validation + split.test) == sorted(one.name for one in subjects)


@pytest.mark.parametrize("how", ["published", "stratified", "fold 1/3"])
def test_own_windows_of_one_class_cannot_be_split(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_TABLE, "mine", DatasetEntry("mine", "", folder=Path("mine")))
    alike = [subject(str(i), 1) for i in range(9)]
    with pytest.raises(
        DataError, match="mine: all windows are of one class, so that every model would score 100"
    ):
        make_split("mine", alike, how)
    assert make_split("mine", [*alike, *(subject(f"x{i}", 0) for i in range(9))], how).test
