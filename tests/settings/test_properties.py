"""Settings and keys for any values: what is typed comes back, and a key depends on values alone."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bench.errors import UsageError
from bench.settings.resolve import parse_assignments
from tests.plan.test_cell import make_cell

# No setting: the value of "normalisation" alone is a word whatever it looks like.
KEYS = st.text("abc_", min_size=1, max_size=5)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = NUMBERS | st.booleans() | st.lists(NUMBERS, max_size=4)
# Each within the bounds of its setting.
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "epochs": st.integers(1, 10_000),
        "batch_size": st.integers(1, 4096),
        "learning_rate": st.floats(1e-6, 1.0),
        "weight_decay": st.floats(0.0, 1.0),
        "label_smoothing": st.floats(0.0, 0.5),
        "d_model": st.integers(1, 64).map(lambda n: 8 * n),
    },
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_typed_values_come_back(values: dict[str, Any]) -> None:
    texts = tuple(f"{key}={str(value).lower()}" for key, value in values.items())
    parsed = parse_assignments(texts)
    assert parsed == values
    assert [type(value) for value in parsed.values()] == [type(value) for value in values.values()]


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_one_line(text: str) -> None:
    try:
        (value,) = parse_assignments((f"key={text}",)).values()
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017 either outcome is right, a library's error is not
    else:
        assert value is None or isinstance(value, str | int | float | bool | list | dict) or _is_date(text)


def _is_date(text: str) -> bool:
    return type(tomllib.loads(f"value = {text}")["value"]).__module__ == "datetime"


@given(CHANGES, st.randoms(use_true_random=False))
def test_key_does_not_depend_on_the_order_of_settings(changes: dict[str, Any], random: Any) -> None:
    shuffled = list(changes.items())
    random.shuffle(shuffled)
    assert make_cell(**dict(shuffled)).key == make_cell(**changes).key


@given(CHANGES, CHANGES)
def test_keys_are_equal_exactly_where_all_values_are(changes: dict[str, Any], others: dict[str, Any]) -> None:
    first, second = make_cell(**changes), make_cell(**others)
    values = [(cell.settings.protocol, cell.settings.hyperparameters) for cell in (first, second)]
    assert (first.key == second.key) == (values[0] == values[1])
