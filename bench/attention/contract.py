"""What attention with dropout takes and returns, the same for every backend. Free of torch until it is called.

Per window and head, for query i and key j, with ``p`` the softmax over keys of ``scale q_i k_j``:

    out_i = sum over j of m_ij p_ij v_j        m_ij is 0 where the probability is dropped, else 1 / (1 - rate)

Which ones are dropped follows from the call's seed and the place alone, so every backend drops the same and none has to
keep what was dropped for the gradient. The 16 bits that decide (:class:`bench.dropout.Dropped`) are, for query i and
key j in pair p (window times heads plus head), half a word of the block that the seed makes of the counter
``(i, j // 8, p, 0)``: word ``j % 8 // 2``, its high half where j is odd.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def check_shapes(q: "Tensor", k: "Tensor", v: "Tensor") -> None:
    """Refuse tensors that do not fit each other.

    Raises
    ------
    ValueError
        A tensor is not ``(batch, heads, tokens, width)``, or not of the others' batch, heads, keys or width.
    """
    shapes = [tuple(tensor.shape) for tensor in (q, k, v)]
    if any(len(shape) != 4 for shape in shapes):
        raise ValueError(f"attention: q, k and v must be (batch, heads, tokens, width), got {shapes}")
    if k.shape[:2] != q.shape[:2] or k.shape[3] != q.shape[3] or v.shape[:3] != k.shape[:3]:
        raise ValueError(
            "attention: k must have q's batch, heads and width, and v k's batch, heads and tokens; "
            f"q, k and v are {shapes}"
        )
