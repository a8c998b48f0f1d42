"""Names and seeds as a user types them."""

import pytest

from bench.errors import UsageError
from bench.plan.select import parse_names, parse_seeds
from bench.plan.shard import parse_shard
from bench.settings.resolve import parse_assignments

KNOWN = ["apava", "ptb", "ptb-xl", "weather"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ptb", ["ptb"]),
        ("ptb,apava", ["ptb", "apava"]),
        (" ptb , ptb ", ["ptb"]),
        ("all", ["apava", "ptb"]),
        ("weather,all", ["weather", "apava", "ptb"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert parse_names("dataset", text, KNOWN, ["apava", "ptb"]) == names


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown dataset 'ptbxl'\. Did you mean 'ptb-xl'"):
        parse_names("dataset", "ptbxl", KNOWN, KNOWN)


def test_no_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no dataset in ','"):
        parse_names("dataset", ",", KNOWN, KNOWN)


@pytest.mark.parametrize(
    ("text", "seeds"), [("41", [41]), ("41-43", [41, 42, 43]), ("41,45", [41, 45]), ("1-2,2-3", [1, 2, 3])]
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "1;2"])
def test_bad_seeds(text: str) -> None:
    with pytest.raises(UsageError, match="expected numbers and ranges"):
        parse_seeds(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("²", "expected numbers"),
        ("9" * 5000, "expected numbers"),
        ("18446744073709551616", "at most 18446744073709551615"),
        ("1-9999999999", "9999999999 seeds; at most 10000"),
    ],
)
def test_seeds_that_no_run_can_have_are_refused_at_once_in_a_short_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        parse_seeds(text)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("text", ["²/8", f"1/{'9' * 5000}", "3/2", "0/2"])
def test_shards_that_there_are_not_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected I/N"):
        parse_shard(text)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000])
def test_a_value_without_end_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="not a value"):
        parse_assignments((f"epochs={value}",))
