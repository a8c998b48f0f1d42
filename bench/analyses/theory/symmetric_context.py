"""Whether a forward-only core can learn a statistic of a symmetric neighbourhood, for several read-outs.

Source: MedMamba paper, section "Principle III: Bidirectional State-Space Inference", proposition on symmetric
dependencies. The statistic of step t is the sign of the sum of white noise over a ring: the steps t + k and t - k,
`NEAR` < k <= `FAR`. The published layer's convolution looks two tokens ahead, in the forward-only variant too; the ring
begins beyond the reach of all layers. A core that sees the past half of the ring alone is right with probability 3/4 at
best, see `ceiling`.

Two read-outs: one label per step, read from the token of that step (the proposition's case) or of a later one (its
"explicit delay"); one label per window after pooling, which is how the paper classifies and which the proposition does
not cover: the statistic at a step that a second channel marks.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.analyses.theory.record import Check, Curve, verdict
from bench.models.layers.mamba_block import KERNEL_SIZE, MambaSettings
from bench.models.medmamba import AttentivePooling, Block
from bench.train.seeding import seed_default_generators, torch_generator

N_LAYERS = 1
NEAR = N_LAYERS * (KERNEL_SIZE - 1 - MambaSettings.steps_back)
FAR = NEAR + 2
N_TOKENS = 24
D_MODEL, D_STATE = 16, 16
N_STEPS, BATCH, LEARNING_RATE = 800, 64, 1e-2
N_TEST = 2000
SEEDS = (41, 42)
MARK = 3.0

MARGIN = 3 * math.sqrt(0.25 / N_TEST)
"""Three standard errors of an accuracy over the test windows, each counted once however many steps it has."""


class Core(nn.Module):
    """Blocks of the model on a series; the tokens ``(batch, tokens, d_model)`` of ``(batch, tokens, n_inputs)``."""

    def __init__(self, n_inputs: int, n_layers: int, *, bidirectional: bool) -> None:
        super().__init__()
        settings = MambaSettings(bidirectional=bidirectional, d_state=D_STATE)
        self.enter = nn.Linear(n_inputs, D_MODEL)
        self.blocks = nn.Sequential(*(Block(D_MODEL, 0.0, 0.0, settings) for _ in range(n_layers)))
        self.norm = nn.LayerNorm(D_MODEL)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, tokens, n_inputs)`` to ``(batch, tokens, d_model)``."""
        return self.norm(self.blocks(self.enter(x)))


def ring_sum(series: Tensor, near: int, far: int) -> Tensor:
    """Return for each step the sum over the ring around it, zeros beyond the ends: ``(batch, tokens)`` to the same."""
    n_tokens = series.shape[1]
    padded = F.pad(series, (far, far))
    shifts = [shift for k in range(near + 1, far + 1) for shift in (far - k, far + k)]
    return torch.stack([padded[:, shift : shift + n_tokens] for shift in shifts]).sum(0)


def ceiling(n_known: int, n_terms: int) -> float:
    """Return the best accuracy of predicting the sign of a sum of equal independent normal terms from some of them."""
    return 0.5 + math.asin(math.sqrt(n_known / n_terms)) / math.pi


Draw = Callable[[int, torch.Generator], tuple[Tensor, Tensor]]


def draw_series(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return noise ``(n, tokens, 1)`` and the label of every step ``(n, tokens)``."""
    series = torch.randn(n, N_TOKENS, generator=generator)
    return series.unsqueeze(-1), (ring_sum(series, NEAR, FAR) > 0).float()


def draw_marked(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return noise beside a channel that marks one step ``(n, tokens, 2)``, and the label of that step ``(n,)``."""
    series = torch.randn(n, N_TOKENS, generator=generator)
    at = torch.randint(FAR, N_TOKENS - FAR, (n,), generator=generator)
    mark = MARK * F.one_hot(at, N_TOKENS)
    labels = (ring_sum(series, NEAR, FAR) > 0).float().gather(1, at.unsqueeze(1)).squeeze(1)
    return torch.stack([series, mark], dim=-1), labels


class StepReadOut(nn.Module):
    """One logit per step whose ring is inside the window, read from the token ``delay`` steps later."""

    def __init__(self, delay: int) -> None:
        super().__init__()
        self.delay = delay
        self.score = nn.Linear(D_MODEL, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to ``(batch, tokens - 2 FAR)``."""
        return self.score(tokens).squeeze(-1)[:, FAR + self.delay : N_TOKENS - FAR + self.delay]

    def targets(self, labels: Tensor) -> Tensor:
        """Return the labels of these steps."""
        return labels[:, FAR : N_TOKENS - FAR]


class WindowReadOut(nn.Module):
    """One logit per window, after the model's own pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = AttentivePooling(D_MODEL)
        self.score = nn.Linear(D_MODEL, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to ``(batch,)``."""
        return self.score(self.pool(tokens)).squeeze(-1)

    def targets(self, labels: Tensor) -> Tensor:
        """Return the labels unchanged."""
        return labels


@dataclass(frozen=True)
class Reading:
    """A task with its read-out: how data are drawn, how many inputs a step has, and which module reads the tokens."""

    name: str
    draw: Draw
    n_inputs: int
    read_out: Callable[[], StepReadOut | WindowReadOut]


AT_STEP = Reading("label per step, read at the step", draw_series, 1, lambda: StepReadOut(0))
DELAYED = Reading(f"label per step, read {FAR} steps later", draw_series, 1, lambda: StepReadOut(FAR))
POOLED = Reading("label per window, pooled", draw_marked, 2, WindowReadOut)


def accuracy(reading: Reading, seed: int, *, bidirectional: bool, n_steps: int = N_STEPS) -> float:
    """Train a small core from a seed on fresh data; return its accuracy on test windows. No global state changes."""
    generator = torch_generator(seed, reading.name)
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        seed_default_generators(seed)
        core = Core(reading.n_inputs, N_LAYERS, bidirectional=bidirectional)
        head = reading.read_out()
    parameters = [*core.parameters(), *head.parameters()]
    optimiser = torch.optim.AdamW(parameters, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=n_steps)
    for _ in range(n_steps):
        x, labels = reading.draw(BATCH, generator)
        loss = F.binary_cross_entropy_with_logits(head(core(x)), head.targets(labels))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.inference_mode():
        x, labels = reading.draw(N_TEST, generator)
        hits = (head(core(x)) > 0) == (head.targets(labels) > 0.5)
        return float(hits.float().mean())


def look_ahead(n_layers: int) -> int:
    """Return how many tokens ahead the forward-only core's output depends on, by its derivatives."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        seed_default_generators(SEEDS[0])
        core = Core(1, n_layers, bidirectional=False)
    x = torch.randn(1, N_TOKENS, 1, generator=torch_generator(SEEDS[0], "look-ahead")).requires_grad_()
    at = N_TOKENS // 2
    weights = torch.arange(1.0, D_MODEL + 1)  # the plain sum of normalised features is constant
    (gradient,) = torch.autograd.grad((core(x)[0, at] * weights).sum(), x)
    return int(gradient[0, :, 0].nonzero().max()) - at


def check_symmetric_context() -> list[Check]:
    """Train both variants with every read-out from several seeds; check each against a causal core's best accuracy."""
    both = [(reading, bidirectional) for reading in (AT_STEP, POOLED) for bidirectional in (True, False)]
    runs = [*both, (DELAYED, False)]
    found = {
        (reading.name, way): [accuracy(reading, seed, bidirectional=way) for seed in SEEDS]
        for reading, way in runs
    }
    bound = ceiling(1, 2)
    return [
        _check_at_step(found[AT_STEP.name, True], found[AT_STEP.name, False], bound, _curves(found, bound)),
        _check_delayed(found[DELAYED.name, False], bound),
        _check_pooled(found[POOLED.name, True], found[POOLED.name, False], bound),
        _check_causal(),
    ]


_ON = (
    f"white noise of {N_TOKENS} tokens, ring of {NEAR + 1} to {FAR} steps on both sides, {N_LAYERS} layer, "
    f"d_model {D_MODEL}, {N_STEPS} steps of {BATCH} fresh windows, {N_TEST} test windows, "
    f"seeds {', '.join(map(str, SEEDS))}"
)


def _check_at_step(both: list[float], forward: list[float], bound: float, curves: tuple[Curve, ...]) -> Check:
    return Check(
        number="5a",
        about="label per step, read at the step",
        claim=(
            "A causal representation cannot recover a statistic of a symmetric neighbourhood at the same step, a "
            "bidirectional one can."
        ),
        checked=(
            f"Trained forward-only and bidirectional cores against the ceiling of who knows half of the ring, "
            f"{bound:.3f}; it holds if forward-only stays at or below it and bidirectional is above, in every seed, by "
            f"a margin of {MARGIN:.3f}."
        ),
        on=_ON,
        result=f"accuracy {_text(forward)} forward-only, {_text(both)} bidirectional; ceiling {bound:.3f}",
        verdict=verdict(max(forward) <= bound + MARGIN and min(both) > bound + MARGIN),
        values={"forward": _mean(forward), "bidirectional": _mean(both), "ceiling": bound},
        curves=curves,
    )


def _check_delayed(forward: list[float], bound: float) -> Check:
    return Check(
        number="5b",
        about="label per step, read later",
        claim="With an explicit delay of at least r steps a causal representation can recover it.",
        checked=(
            f"The forward-only core, the label of step t read from token t + {FAR}; it holds if above "
            f"{bound + MARGIN:.3f} in every seed."
        ),
        on=_ON,
        result=f"accuracy {_text(forward)} forward-only",
        verdict=verdict(min(forward) > bound + MARGIN),
        values={"forward": _mean(forward)},
    )


def _check_pooled(both: list[float], forward: list[float], bound: float) -> Check:
    return Check(
        number="5c",
        about="label per window, pooled",
        claim=(
            "The paper calls this particularly relevant for classifying whole windows: there too a forward-only core "
            "should miss it. (The proposition itself does not cover a pooled read-out.)"
        ),
        checked=(
            "One label per window, the same statistic at a marked step, after the model's pooling; it holds if "
            f"forward-only stays at or below {bound:.3f}, by a margin of {MARGIN:.3f}, in every seed."
        ),
        on=_ON,
        result=f"accuracy {_text(forward)} forward-only, {_text(both)} bidirectional",
        verdict=verdict(max(forward) <= bound + MARGIN),
        values={"forward": _mean(forward), "bidirectional": _mean(both)},
    )


def _check_causal() -> Check:
    depths = (1, 2, 3)
    seen = [look_ahead(n_layers) for n_layers in depths]
    return Check(
        number="5d",
        about="look-ahead of the variant",
        claim="The unidirectional (forward-only) variant is strictly causal.",
        checked="How far ahead of a token its output has a derivative; it holds if not at all.",
        on=f"forward-only cores of {', '.join(map(str, depths))} layers as published, random weights",
        result=f"its output depends on {', '.join(map(str, seen))} tokens ahead",
        verdict=verdict(max(seen) == 0),
        values={f"tokens_ahead_{depth}_layers": n_ahead for depth, n_ahead in zip(depths, seen, strict=True)},
    )


def _curves(found: dict[tuple[str, bool], list[float]], bound: float) -> tuple[Curve, ...]:
    """Return every seed's accuracy; x numbers the read-outs, whose names the labels hold."""
    readings = [AT_STEP.name, DELAYED.name, POOLED.name]
    curves = [
        Curve(
            panel="accuracy",
            label=f"{'bidirectional' if way else 'forward-only'}: {name}",
            x=(float(readings.index(name)),) * len(values),
            y=tuple(values),
        )
        for (name, way), values in found.items()
    ]
    return (*curves, Curve(panel="accuracy", label="half of the ring known", x=(0.0, 2.0), y=(bound, bound)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _text(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.3f}" for value in values)
