"""The variants of MedMamba that the paper compares on one dataset; they belong to a grid that has both."""

from collections.abc import Sequence

MODEL, DATASET = "medmamba", "adftd"
VARIANTS = ("medmamba-single-scale", "medmamba-unidirectional", "medmamba-no-channel-mixing")


def ablation_variants(models: Sequence[str], datasets: Sequence[str]) -> list[str]:
    """Return the variants that a grid lacks; none unless it has both MedMamba and ADFTD."""
    if MODEL not in models or DATASET not in datasets:
        return []
    return [name for name in VARIANTS if name not in models]
