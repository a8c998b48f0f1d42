"""The trainer: what it learns, keeps, refuses, and that it goes on exactly where it was."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from bench.errors import DataError
from bench.train.evaluate import predict
from bench.train.fit import Fit
from bench.train.scores import DivergedError, macro_f1
from tests.train.cohort import make_model, make_part, training


def run(fit: Fit) -> Fit:
    while not fit.finished:
        fit.run_epoch()
    return fit


def weights_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_learns_an_easy_difference() -> None:
    model = make_model()
    fit = run(Fit(model, make_part("abcd", 0), make_part("ef", 1), training(epochs=12), seed=41))
    model.load_state_dict(fit.best_weights)
    test = make_part("gh", 2)
    assert macro_f1(predict(model, test, 10, seed=41), test.part_labels) > 0.8


def test_same_seed_same_bits() -> None:
    fits = [
        run(Fit(make_model(), make_part("abc", 0), make_part("de", 1), training(), seed=41)) for _ in range(2)
    ]
    assert weights_equal(fits[0].best_weights, fits[1].best_weights)
    assert [e.train_loss for e in fits[0].history] == [e.train_loss for e in fits[1].history]


def test_another_seed_orders_windows_differently() -> None:
    losses = [
        run(Fit(make_model(), make_part("abc", 0), make_part("de", 1), training(epochs=1), seed))
        .history[0]
        .train_loss
        for seed in (41, 42)
    ]
    assert losses[0] != losses[1]


@pytest.mark.parametrize("name", ["transformer", "informer", "medmamba"])
@pytest.mark.parametrize("averaging", [False, True])
def test_goes_on_exactly_from_a_saved_state(name: str, averaging: bool) -> None:
    recipe = training(epochs=4, weight_averaging=averaging)
    train, validation = make_part("abc", 0), make_part("de", 1)
    overrides: dict[str, Any] = {"strides": (4,)} if name == "medmamba" else {}
    whole = run(Fit(make_model(name, **overrides), train, validation, recipe, seed=41))

    first = Fit(make_model(name, **overrides), train, validation, recipe, seed=41)
    first.run_epoch()
    first.run_epoch()
    state = copy.deepcopy(first.state_dict())
    second = Fit(make_model(name, seed=7, **overrides), train, validation, recipe, seed=41)
    second.load_state_dict(state)
    run(second)

    assert weights_equal(whole.best_weights, second.best_weights)
    assert [e.val_loss for e in whole.history] == [e.val_loss for e in second.history]


def test_refuses_a_subject_in_both_parts() -> None:
    with pytest.raises(DataError, match="subject 'c' is in both the train and the validation part"):
        Fit(make_model(), make_part("abc", 0), make_part("cd", 1), training(), seed=41)


def test_a_loss_that_is_not_finite_stops_before_a_step() -> None:
    model = make_model()
    before = copy.deepcopy(model.state_dict())
    train = make_part("ab", 0)
    train.windows[3, 2, 0] = np.nan
    with pytest.raises(DivergedError, match="not finite"):
        Fit(model, train, make_part("cd", 1), training(batch_size=100), seed=41).run_epoch()
    assert weights_equal(before, model.state_dict())


def test_micro_batches_give_the_gradient_of_the_whole_batch() -> None:
    losses = []
    for size in (None, 3):
        recipe = training(micro_batch_size=size, epochs=2, optimizer="adam")
        model = make_model(dropout=0.0).double()
        train, validation = make_part("abc", 0), make_part("de", 1)
        for part in (train, validation):
            object.__setattr__(part, "windows", part.windows.astype(np.float64))
        losses.append([e.train_loss for e in run(Fit(model, train, validation, recipe, seed=41)).history])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def sampled_keys(n_validation: int, monkeypatch: pytest.MonkeyPatch) -> list[list[torch.Tensor]]:
    """Train an Informer for three epochs and return what it drew in the training steps of each."""
    model = make_model("informer")
    fit = Fit(model, make_part("abc", 0), make_part("de", 1, n_validation), training(), seed=41)
    drawn: list[list[torch.Tensor]] = []
    plain = torch.randint

    def recording(*args: Any, **kwargs: Any) -> torch.Tensor:
        sample = plain(*args, **kwargs)
        if model.training:
            drawn[-1].append(sample)
        return sample

    with monkeypatch.context() as patch:
        patch.setattr(torch, "randint", recording)
        while not fit.finished:
            drawn.append([])
            fit.run_epoch()
    return drawn


def test_every_epoch_draws_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (torch.cat(drawn) for drawn in sampled_keys(4, monkeypatch))
    assert not torch.equal(first, second)
    assert not torch.equal(second, third)


def test_draws_of_training_do_not_depend_on_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    one_batch, two_batches = ([torch.cat(drawn) for drawn in sampled_keys(n, monkeypatch)] for n in (4, 8))
    assert all(torch.equal(one, other) for one, other in zip(one_batch, two_batches, strict=True))


def test_an_epoch_records_the_rate_of_its_last_step() -> None:
    recipe = training(epochs=3, warmup_epochs=1)
    history = run(Fit(make_model(), make_part("abc", 0), make_part("de", 1), recipe, seed=41)).history
    # Three steps an epoch: two thirds of the warm-up are behind the last step of the first.
    assert history[0].learning_rate == pytest.approx(3e-3 * (0.01 + 0.99 * 2 / 3))
    assert history[-1].learning_rate == pytest.approx(0.0, abs=1e-15)


def test_a_step_is_no_longer_than_the_clipped_gradient() -> None:
    model = make_model()
    fit = Fit(model, make_part("abc", 0), make_part("de", 1), training(clip_norm=1e-3), seed=41)
    norms = []

    def measure(*_: Any) -> None:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norms.append(float(torch.nn.utils.get_total_norm(gradients)))

    fit.optimiser.register_step_pre_hook(measure)
    fit.run_epoch()
    assert norms == pytest.approx([1e-3] * 3, rel=1e-2)


def test_bfloat16_trains_other_numbers_in_float32_weights() -> None:
    fits = [
        run(
            Fit(make_model(), make_part("abc", 0), make_part("de", 1), training(precision=precision), seed=41)
        )
        for precision in ("float32", "bfloat16")
    ]
    exact, rounded = ([epoch.train_loss for epoch in fit.history] for fit in fits)
    assert exact != rounded
    assert exact == pytest.approx(rounded, rel=0.05)
    assert {value.dtype for value in fits[1].best_weights.values()} == {torch.float32}


class Scripted(nn.Module):
    """Answers every window with logits that depend on how often it was evaluated."""

    def __init__(self, share_right: list[float]) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.share_right, self.evaluations = share_right, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        truth = torch.arange(len(x)) % 2
        if not self.training:
            wrong = torch.arange(len(x)) >= self.share_right[self.evaluations] * len(x)
            self.evaluations += 1
            truth = torch.where(wrong, 1 - truth, truth)
        return nn.functional.one_hot(truth, 2).float() + self.bias * 0


@pytest.mark.parametrize(
    ("shares", "changes", "best", "n_epochs"),
    [
        ([0.5, 1.0, 1.0, 0.5], {"epochs": 4}, 2, 4),
        ([0.5, 0.5, 0.5, 0.5], {"epochs": 4, "patience": 2}, 1, 3),
        ([0.5, 0.75, 0.5, 0.5, 1.0], {"epochs": 5, "patience": 2}, 2, 4),
        ([0.5, 0.75, 1.0], {"epochs": 3, "min_improvement": 0.3}, 3, 3),
        ([0.5, 0.75, 0.75], {"epochs": 3, "patience": 2, "min_improvement": 0.5}, 1, 3),
    ],
    ids=[
        "a tie keeps the earlier",
        "patience counts from the best",
        "patience ends before a late best",
        "gains add up to one that counts",
        "a small gain is none",
    ],
)
def test_which_epoch_is_kept(shares: list[float], changes: dict, best: int, n_epochs: int) -> None:
    fit = run(
        Fit(
            Scripted(shares),
            make_part("ab", 0),
            make_part("cd", 1),
            training(batch_size=99, **changes),
            seed=41,
        )
    )
    assert (fit.best_epoch, len(fit.history)) == (best, n_epochs)


def test_weight_averaging_keeps_the_mean_of_all_epochs() -> None:
    fit = Fit(
        make_model(),
        make_part("abc", 0),
        make_part("de", 1),
        training(weight_averaging=True, epochs=3),
        seed=41,
    )
    seen = []
    while not fit.finished:
        fit.run_epoch()
        seen.append(copy.deepcopy(fit.model.state_dict()))
    assert fit.averaged is not None
    mean = torch.stack([state["head.projection.weight"] for state in seen]).mean(0)
    torch.testing.assert_close(fit.averaged.module.state_dict()["head.projection.weight"], mean)


class Waits(TorchFunctionMode):
    """Count what makes Python wait for a tensor's numbers, but for the optimiser's counters, which stay on the CPU."""

    def __init__(self, fit: Fit) -> None:
        super().__init__()
        self.fit, self.count = fit, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        counters = {id(state.get("step")) for state in self.fit.optimiser.state.values()}
        if getattr(func, "__name__", "") in FETCHING and id(args[0]) not in counters:
            self.count += 1
        return func(*args, **(kwargs or {}))


FETCHING = {
    "item",
    "tolist",
    "numpy",
    "cpu",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "nonzero",
    "equal",
}


@pytest.mark.parametrize("micro_batch_size", [None, 2])
def test_a_step_waits_for_its_numbers_once(micro_batch_size: int | None) -> None:
    recipe = training(batch_size=8, micro_batch_size=micro_batch_size)
    # Without dropout, whose seeds are drawn and read on a CPU only, where nothing waits.
    fit = Fit(make_model(dropout=0.0), make_part("abc", 0), make_part("de", 1), recipe, seed=41)
    with Waits(fit) as waits:
        fit._train_one_epoch(lambda _: None)
    n_steps = 3
    assert waits.count <= n_steps + 1  # one each, and the order of the windows


def test_micro_batches_add_up_to_the_loss() -> None:
    losses = []
    for size in (None, 4):
        recipe = training(batch_size=8, micro_batch_size=size, epochs=1)
        fit = Fit(make_model(dropout=0.0), make_part("abc", 0), make_part("de", 1), recipe, seed=41)
        losses.append(fit.run_epoch().train_loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
