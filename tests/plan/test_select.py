"""Names and seeds as a user types them."""

import pytest

from bench.errors import UsageError
from bench.plan.select import parse_names, parse_seeds

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
