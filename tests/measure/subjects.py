"""Tiny models for tests of measuring."""

from bench.measure.workload import Subject
from bench.models import registry
from bench.settings import preset, resolve

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1, "dropout": 0.1}


def make_subject(
    model: str = "transformer", *, n_times: int = 32, memory_limit_bytes: int | None = None
) -> Subject:
    """Return a model of a few thousand parameters on one thread."""
    settings = resolve(model, "adftd", 41, recipe_name="medformer", preset=preset("paper"), assignments={})
    return Subject(
        entry=registry.entry(model),
        hyperparameters=SMALL,
        n_channels=3,
        n_times=n_times,
        n_classes=2,
        training=settings.protocol,
        device="cpu",
        threads=1,
        memory_limit_bytes=memory_limit_bytes,
    )
