"""The baselines beyond the paper: who they are, which windows they take, and how large they are published to be."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import bench.models
from bench.models import registry
from bench.models.layers.mamba_block import KERNEL_SIZE, MambaSettings
from bench.models.layers.mamba_block import Mamba as MambaLayer

BEYOND = [
    *("bilstm", "fcn", "inceptiontime", "mamba", "moderntcn", "resnet1d", "s4d", "tcn", "xresnet1d101"),
]
TWELVE = [
    *("autoformer", "crossformer", "fedformer", "informer", "itransformer", "medformer", "medmamba", "mtst"),
    *("nonformer", "patchtst", "reformer", "transformer"),
]


def test_all_stays_the_twelve() -> None:
    assert bench.models.names(all_only=True) == TWELVE


def test_the_baselines_are_a_group() -> None:
    assert [name for name in bench.models.names() if bench.models.entry(name).group == "beyond"] == BEYOND


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("n_times", [10, 3000])
def test_short_and_long_windows(name: str, n_times: int) -> None:
    model = bench.models.build(name, 1, n_times, 2)
    # The last batch of an epoch may be one window.
    logits = model.train()(torch.randn(1, n_times, 1))
    assert logits.shape == (1, 2)
    logits.sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in model.parameters())


SMALL: dict[str, Any] = {
    "d_model": 32,
    "n_layers": 2,
    "n_blocks": (1,),
    "widths": (32,),
    "kernel_sizes": (9,),
}


@pytest.mark.parametrize("name", BEYOND)
def test_learns_to_tell_frequencies(name: str) -> None:
    """Three sines of any phase, in noise: 48 windows, 20 steps."""
    draw = torch.Generator().manual_seed(0)
    labels = torch.arange(48) % 3
    angle = 2 * math.pi * torch.arange(64) / 64
    phase = 2 * math.pi * torch.rand(48, 1, generator=draw)
    sines = torch.sin(torch.tensor([2.0, 5.0, 9.0])[labels, None] * angle + phase)
    windows = sines.unsqueeze(-1) + 0.3 * torch.randn(48, 64, 2, generator=draw)
    torch.manual_seed(0)
    known = registry.hyperparameters(name)
    model = bench.models.build(name, 2, 64, 3, **{key: SMALL[key] for key in SMALL if key in known})
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(20):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(windows), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > 0.9
    assert losses[-1] < 0.5


# Trainable parameters of the network at the shape of the publication: (n_channels, n_times, n_classes).
PUBLISHED: dict[str, tuple[tuple[int, int, int], int, str]] = {
    # Ismail-Fawaz et al., "LITE: Light Inception with boosTing tEchniques" (2023), its table of models: without the
    # classifier, one channel.
    "fcn": ((1, 100, 2), 264_704 + 128 * 2 + 2, "LITE"),
    "resnet1d": ((1, 100, 2), 504_000 + 128 * 2 + 2, "LITE"),
    "inceptiontime": ((1, 100, 2), 420_192 + 128 * 2 + 2, "LITE"),
    # Bai et al. 2018, table 1: "about 70K" for sequential MNIST; exact by its code's layers.
    "tcn": ((1, 784, 10), 66_910, "code"),
}


def n_parameters(name: str, shape: tuple[int, int, int], **settings: Any) -> int:
    with torch.device("meta"):
        model = bench.models.build(name, *shape, **settings)
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_number_of_parameters(name: str) -> None:
    shape, expected, _ = PUBLISHED[name]
    assert n_parameters(name, shape) == expected


def test_blocks_are_those_of_the_published_mamba_130m() -> None:
    """129,135,360 parameters, counted in ``state-spaces/mamba-130m``: 24 blocks, a norm, 50,280 words."""
    d_model, n_layers, n_words = 768, 24, 50_280
    shape = (5, 64, 7)
    ours = n_parameters("mamba", shape, d_model=d_model, n_layers=n_layers)
    beside_the_blocks = (shape[0] + 1) * d_model + (d_model + 1) * shape[2]
    assert ours - beside_the_blocks + n_words * d_model == 129_135_360


def test_plain_mamba_has_no_parameters_of_its_normalisation() -> None:
    plain = MambaSettings(bidirectional=False, steps_back=KERNEL_SIZE - 1, norm=torch.nn.Identity)
    counts = [
        sum(p.numel() for p in MambaLayer(32, 0.0, settings).parameters())
        for settings in (MambaSettings(bidirectional=False), plain)
    ]
    assert counts[0] - counts[1] == 2 * 64


def bottleneck(n_in: int, width: int, kernel_size: int) -> int:
    """Weights of a bottleneck block: three convolutions without bias, two numbers per feature of each norm."""
    inner = n_in * width + kernel_size * width * width + width * 4 * width + 2 * (width + width + 4 * width)
    return inner + (n_in * 4 * width + 2 * 4 * width if n_in != 4 * width else 0)


def test_xresnet1d101_has_the_layers_of_its_code() -> None:
    """Counted by hand for 12 leads and 71 statements: 101 layers with a five-step kernel, 64 wide in every stage."""
    stem = 5 * (12 * 32 + 32 * 32 + 32 * 64) + 2 * (32 + 32 + 64)
    blocks = bottleneck(64, 64, 5) + (3 + 4 + 23 + 3 - 1) * bottleneck(256, 64, 5)
    head = 2 * 512 + 513 * 128 + 2 * 128 + 129 * 71
    assert n_parameters("xresnet1d101", (12, 250, 71)) == stem + blocks + head


def test_bilstm_has_the_layers_of_its_code() -> None:
    """Counted by hand: four gates of two orders, with the two biases of each, in two layers."""
    recurrent = 2 * 4 * 256 * (12 + 256 + 2) + 2 * 4 * 256 * (512 + 256 + 2)
    head = 2 * 1536 + 1537 * 128 + 2 * 128 + 129 * 71
    assert n_parameters("bilstm", (12, 250, 71)) == recurrent + head


def test_s4d_has_the_layers_of_its_code() -> None:
    """Counted by hand for colour images as sequences, the published example's own shape and settings."""
    states = 128 + 2 * 128 * 32 + 2 * 128 * 32 + 128
    layer = states + 129 * 256 + 2 * 128
    assert n_parameters("s4d", (3, 1024, 10)) == 4 * 128 + 4 * layer + 129 * 10


def test_moderntcn_has_the_layers_of_its_code() -> None:
    """Counted by hand at the shape of Heartbeat, whose published setting it has: 61 channels, 405 steps, 2 classes."""
    channels, width, tokens = 61, 256, 405 // 4
    patches = 9 * width + 2 * width
    convolutions = channels * width * (31 + 5) + 2 * 2 * channels * width
    of_features = 2 * channels * width * (width + 1)
    of_channels = 2 * width * channels * (channels + 1)
    head = channels * width * tokens * 2 + 2
    block = convolutions + 2 * width + of_features + of_channels
    assert n_parameters("moderntcn", (channels, 405, 2)) == patches + block + head
