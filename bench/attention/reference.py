"""The backend ``reference``: the definition, whole matrices, in any precision; made for comparison."""

from torch import Tensor

from bench.attention.kept import factors
from bench.dropout.dropped import Dropped


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, dropped: Dropped) -> Tensor:
    """Return ``(batch, heads, tokens of q, width of v)``."""
    batch, heads, n_queries, _ = q.shape
    probabilities = (q @ k.transpose(-1, -2) * scale).softmax(dim=-1)
    kept = factors(dropped, range(batch * heads), range(n_queries), k.shape[2], q.dtype)
    return (probabilities * kept.view_as(probabilities)) @ v
