from collections.abc import Callable

import pytest

from bench.measure import rounds
from bench.measure.rounds import FellOutError, Precision, take_turns


class Machine:
    """A clock that only moves when a model runs, and the order in which models ran."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.log: list[str] = []

    def model(self, name: str, seconds: list[float]) -> Callable[[], list[float]]:
        """Return visits that take the seconds in turn, over and over."""

        def visit() -> list[float]:
            taken = seconds[self.log.count(name) % len(seconds)]
            self.log.append(name)
            self.now_s += taken
            return [taken]

        return visit

    def now(self) -> float:
        return self.now_s


def narrow(limit_s: float = 1e9) -> Precision:
    return Precision(half_width=0.05, limit_s=limit_s)


def test_models_take_turns() -> None:
    machine = Machine()
    take_turns({"a": machine.model("a", [1.0]), "b": machine.model("b", [2.0])}, narrow(), now=machine.now)
    assert machine.log == ["a", "b"] * 6


def test_steady_model_stops_as_soon_as_an_interval_exists() -> None:
    machine = Machine()
    measured = take_turns({"a": machine.model("a", [1.0])}, narrow(), now=machine.now)
    assert (len(measured["a"].rounds), measured["a"].stop) == (6, "narrow enough")


def test_unsteady_model_goes_on_until_narrow() -> None:
    machine = Machine()
    visits = {"a": machine.model("a", [0.5, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0])}
    measured = take_turns(visits, narrow(), now=machine.now)
    assert len(measured["a"].rounds) > 6
    assert measured["a"].stop == "narrow enough"


def test_time_limit_stops_and_says_so() -> None:
    machine = Machine()
    measured = take_turns({"a": machine.model("a", [1.0, 3.0])}, narrow(limit_s=10.0), now=machine.now)
    assert measured["a"].stop == "time limit"
    assert machine.now_s <= 10.0


def test_slow_model_leaves_time_to_the_others() -> None:
    machine = Machine()
    visits = {"slow": machine.model("slow", [20.0]), "quick": machine.model("quick", [1.0])}
    measured = take_turns(visits, narrow(limit_s=45.0), now=machine.now)
    assert (len(measured["slow"].rounds), measured["slow"].stop) == (1, "time limit")
    assert measured["quick"].stop == "narrow enough"


def test_a_warm_up_does_not_count_for_what_the_next_round_takes() -> None:
    machine = Machine()
    run = machine.model("a", [4.0])

    def visit() -> list[float]:
        if not machine.log:
            machine.now_s += 4.0
        return run()

    measured = take_turns({"a": visit}, narrow(limit_s=15.0), now=machine.now)
    assert len(measured["a"].rounds) == 2


def test_every_model_has_a_round_whatever_the_limit() -> None:
    machine = Machine()
    visits = {"a": machine.model("a", [5.0]), "b": machine.model("b", [5.0])}
    measured = take_turns(visits, narrow(limit_s=1.0), now=machine.now)
    assert [len(model.rounds) for model in measured.values()] == [1, 1]


def test_anchor_stays_until_the_last_is_finished() -> None:
    machine = Machine()
    visits = {"ours": machine.model("ours", [1.0]), "slow": machine.model("slow", [1.0, 2.0, 3.0])}
    measured = take_turns(visits, narrow(limit_s=60.0), anchor="ours", now=machine.now)
    assert len(measured["ours"].rounds) == len(measured["slow"].rounds) > 6


def test_model_that_falls_out_leaves_the_others_alone() -> None:
    machine = Machine()

    def broken() -> list[float]:
        raise FellOutError("died")

    measured = take_turns({"a": broken, "b": machine.model("b", [1.0])}, narrow(), now=machine.now)
    assert (measured["a"].stop, measured["a"].message, measured["a"].rounds) == ("fell out", "died", ())
    assert measured["b"].stop == "narrow enough"


def test_rounds_have_an_end_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "MOST_ROUNDS", 9)
    machine = Machine()
    measured = take_turns({"a": machine.model("a", [1.0, 9.0])}, narrow(), now=machine.now)
    assert (len(measured["a"].rounds), measured["a"].stop) == (9, "most rounds")
