"""The selective scan as two Triton kernels, forward and backward.

A program is one warp: one sample, one direction and a block of features, walking over time with the state in registers.
Its tiles are ``(states, features)``, features on neighbouring lanes. The forward pass keeps the states at the borders
of chunks. From these the backward pass recomputes the states before a chunk's groups of steps, and from those, one
group at a time, all others; both stay in registers. No atomics: where several programs have a share in a sum, each
writes its own, and the caller adds them up.

A series is a tuple of a pointer and the strides of its axes sample, time and direction; the last axis is contiguous.
Names as in :mod:`bench.scan.contract`, upper case for what a kernel is compiled for:

========= ==============================================================================
D_STATE   numbers of a state; STATES is the next power of two
BLOCK     features of a program
CHUNK     steps between kept states, GROUP those held in registers at once
TERMS     terms of the logarithm's series, for the precision
KEEP      whether the forward pass writes borders
========= ==============================================================================
"""

# Triton's language, which a checker reads as Python:
# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false, reportCallIssue=false, reportArgumentType=false

import triton
import triton.language as tl


@triton.jit
def forward(
    u,
    delta,
    B,
    C,
    A2,  # A log2(e) (n_directions, d_state, dim)
    D,
    delta_bias,
    reverse,
    y,  # (batch, n_times, n_directions, dim)
    borders,  # states before all chunks but the first (batch, n_chunks - 1, n_directions, d_state, dim)
    n_times,
    n_directions,
    dim,
    D_STATE: tl.constexpr,
    STATES: tl.constexpr,
    BLOCK: tl.constexpr,
    CHUNK: tl.constexpr,
    TERMS: tl.constexpr,
    KEEP: tl.constexpr,
):
    """Write y and, where a gradient is wanted, the borders."""
    sample, direction, _block, features, states = _place(n_directions, dim, BLOCK, STATES)
    some, real = features < dim, states < D_STATE
    inside = real[:, None] & some[None, :]
    tile = (direction * D_STATE + states)[:, None] * dim + features[None, :]
    a2 = tl.load(A2 + tile, inside, other=0)
    skip = tl.load(D + direction * dim + features, some, other=0)
    bias = tl.load(delta_bias + direction * dim + features, some, other=0)
    at_u, at_delta = _start(u, sample, direction), _start(delta, sample, direction)
    at_b, at_c = _start(B, sample, direction), _start(C, sample, direction)
    at_y = y + (sample * n_times * n_directions + direction) * dim
    border_size = n_directions * D_STATE * dim
    at_border = borders + sample * (tl.cdiv(n_times, CHUNK) - 1) * border_size
    h = tl.zeros([STATES, BLOCK], a2.dtype)
    for i in range(n_times):
        if KEEP:  # noqa: SIM102 - decided when compiled
            if (i % CHUNK == 0) & (i > 0):
                tl.store(at_border + tile, h, inside)
                at_border += border_size
        t = _time(i, n_times, direction, reverse)
        x = tl.load(at_u + t * u[2] + features, some, other=0)
        raw = tl.load(at_delta + t * delta[2] + features, some, other=0)
        b = tl.load(at_b + t * B[2] + states, real, other=0)
        c = tl.load(at_c + t * C[2] + states, real, other=0)
        step, _slope = _softplus(raw + bias, TERMS)
        h = h * tl.exp2(step[None, :] * a2) + _entering(step * x, b, real)
        out = tl.sum(h * c[:, None], 0) + skip * x
        tl.store(at_y + t * n_directions * dim + features, out, some)


@triton.jit
def backward(
    u,
    delta,
    B,
    C,
    dy,
    A2,
    D,
    delta_bias,
    borders,
    reverse,
    du,  # (batch, n_times, n_directions, dim), as many directions as delta has
    ddelta,  # (batch, n_times, n_directions, dim)
    dB,  # (blocks, batch, n_times, n_directions, d_state)
    dC,
    dA,  # (batch, n_directions, d_state, dim)
    dD,  # (batch, n_directions, dim)
    dbias,
    n_rows,  # batch n_times n_directions
    n_times,
    n_directions,
    dim,
    D_STATE: tl.constexpr,
    STATES: tl.constexpr,
    BLOCK: tl.constexpr,
    CHUNK: tl.constexpr,
    GROUP: tl.constexpr,
    TERMS: tl.constexpr,
):
    """Write the gradients of all inputs, those of A, B, C, D and delta_bias in parts."""
    sample, direction, block, features, states = _place(n_directions, dim, BLOCK, STATES)
    some, real = features < dim, states < D_STATE
    inside = real[:, None] & some[None, :]
    tile = (direction * D_STATE + states)[:, None] * dim + features[None, :]
    a2 = tl.load(A2 + tile, inside, other=0)
    skip = tl.load(D + direction * dim + features, some, other=0)
    bias = tl.load(delta_bias + direction * dim + features, some, other=0)
    at_u, at_delta = _start(u, sample, direction), _start(delta, sample, direction)
    at_b, at_c = _start(B, sample, direction), _start(C, sample, direction)
    at_dy = _start(dy, sample, direction)
    row = sample * n_times * n_directions + direction
    part = block.to(tl.int64) * n_rows
    n_chunks = tl.cdiv(n_times, CHUNK)
    border_size = n_directions * D_STATE * dim
    at_border = borders + sample * (n_chunks - 1) * border_size + tile
    g, sum_a = tl.zeros([STATES, BLOCK], a2.dtype), tl.zeros([STATES, BLOCK], a2.dtype)
    sum_d, sum_bias = tl.zeros([BLOCK], a2.dtype), tl.zeros([BLOCK], a2.dtype)
    for later in range(n_chunks):
        first = (n_chunks - 1 - later) * CHUNK
        n_groups = tl.cdiv(min(n_times - first, CHUNK), GROUP)
        kept = real[:, None] & _until(features, dim, first > 0)[None, :]
        h = tl.load(at_border + (n_chunks - 2 - later) * border_size, kept, other=0)
        marks = (h,)  # the states before the chunk's groups
        for _ in tl.static_range(1, CHUNK // GROUP):
            marks = marks + (h,)
        for i in range(n_groups * GROUP - GROUP):
            t = _time(first + i, n_times, direction, reverse)
            x = tl.load(at_u + t * u[2] + features, some, other=0)
            raw = tl.load(at_delta + t * delta[2] + features, some, other=0)
            b = tl.load(at_b + t * B[2] + states, real, other=0)
            step, slope = _softplus(raw + bias, TERMS)
            h = h * tl.exp2(step[None, :] * a2) + _entering(step * x, b, real)
            marks = _marked(marks, h, i + 1, GROUP)
        for after in range(n_groups):
            group = n_groups - 1 - after
            hs, decays, xs, steps, slopes = (_mark(marks, group),), (), (), (), ()
            for k in tl.static_range(GROUP):
                at = first + group * GROUP + k
                here = at < n_times
                some_here, real_here = _until(features, dim, here), _until(states, D_STATE, here)
                t = _time(at, n_times, direction, reverse)
                x = tl.load(at_u + t * u[2] + features, some_here, other=0)
                raw = tl.load(at_delta + t * delta[2] + features, some_here, other=0)
                b = tl.load(at_b + t * B[2] + states, real_here, other=0)
                step, slope = _softplus(raw + bias, TERMS)
                decay = tl.exp2(step[None, :] * a2)
                hs = hs + (hs[k] * decay + _entering(step * x, b, real),)
                decays, xs, steps, slopes = decays + (decay,), xs + (x,), steps + (step,), slopes + (slope,)
            for k in tl.static_range(GROUP - 1, -1, -1):
                at = first + group * GROUP + k
                here = at < n_times
                some_here, real_here = _until(features, dim, here), _until(states, D_STATE, here)
                t = _time(at, n_times, direction, reverse)
                grad = tl.load(at_dy + t * dy[2] + features, some_here, other=0)
                b = tl.load(at_b + t * B[2] + states, real_here, other=0)
                c = tl.load(at_c + t * C[2] + states, real_here, other=0)
                x, step = xs[k], steps[k]
                gh = g + tl.where(real[:, None], grad[None, :] * c[:, None], 0)
                of_c = tl.sum(tl.where(some[None, :], grad[None, :] * hs[k + 1], 0), 1)
                of_b = tl.sum(tl.where(some[None, :], (step * x)[None, :] * gh, 0), 1)
                to = row + t * n_directions
                to_part = (part + to) * D_STATE + states
                tl.store(dC + to_part, of_c, real_here)
                tl.store(dB + to_part, of_b, real_here)
                d_entering = tl.sum(gh * b[:, None], 0)
                carry = gh * decays[k]
                d_exponent = carry * hs[k]
                of_delta = (d_entering * x + tl.sum(d_exponent * a2, 0) * 0.6931471805599453) * slopes[k]
                tl.store(ddelta + to * dim + features, of_delta, some_here)
                tl.store(du + to * dim + features, d_entering * step + grad * skip, some_here)
                g = tl.where(here, carry, g)
                sum_a += tl.where(here, d_exponent * step[None, :], 0)
                sum_bias += tl.where(here, of_delta, 0)
                sum_d += grad * x
    own = sample * border_size
    tl.store(dA + own + tile, sum_a, inside)
    tl.store(dD + (sample * n_directions + direction) * dim + features, sum_d, some)
    tl.store(dbias + (sample * n_directions + direction) * dim + features, sum_bias, some)


@triton.jit
def _until(index, size, wanted):
    """Return which of ``index`` are below ``size``, none unless ``wanted``."""
    return index < tl.where(wanted, size, 0)


@triton.jit
def _entering(step_x, b, real):
    """Return what enters the states ``(states, features)``; the padding stays zero, whatever ``step_x`` is."""
    return tl.where(real[:, None], step_x[None, :] * b[:, None], 0)


@triton.jit
def _marked(marks, h, n_steps, GROUP: tl.constexpr):
    """Return the marks with ``h`` in the place of the group that ``n_steps`` lead to, if they do."""
    new = (marks[0],)
    for j in tl.static_range(1, len(marks)):
        new = new + (tl.where(n_steps == j * GROUP, h, marks[j]),)
    return new


@triton.jit
def _mark(marks, group):
    """Return the mark of a group."""
    h = marks[0]
    for j in tl.static_range(1, len(marks)):
        h = tl.where(group == j, marks[j], h)
    return h


@triton.jit
def _softplus(raw, TERMS: tl.constexpr):
    """Return ``log(1 + exp(raw))`` and its derivative, with all digits of small ones.

    ``log(1 + z) = 2 artanh(z / (2 + z))``, z up to 1, by its series: a GPU's fast logarithm is exact to so many digits
    after the point, not of the value.
    """
    z = tl.exp(-tl.abs(raw))
    ratio = z / (2 + z)
    square = ratio * ratio
    series = square * 0
    for term in tl.static_range(TERMS):
        series = series * square + 1.0 / (2 * (TERMS - term) - 1)
    inverse = 1 / (1 + z)
    return tl.maximum(raw, 0) + 2 * ratio * series, tl.where(raw > 0, inverse, z * inverse)


@triton.jit
def _place(n_directions, dim, BLOCK: tl.constexpr, STATES: tl.constexpr):
    """Return sample, direction, block, features ``(BLOCK,)`` and states; neighbouring programs share B and C."""
    n_blocks = tl.cdiv(dim, BLOCK)
    program = tl.program_id(0)
    block = program % n_blocks
    direction = program // n_blocks % n_directions
    sample = (program // n_blocks // n_directions).to(tl.int64)
    return sample, direction, block, block * BLOCK + tl.arange(0, BLOCK), tl.arange(0, STATES)


@triton.jit
def _time(i, n_times, direction, reverse):
    """Return the time of the i-th step in the direction's order; bit k of ``reverse`` is direction k's."""
    return tl.where((reverse >> direction) & 1 != 0, n_times - 1 - i, i)


@triton.jit
def _start(series, sample, direction):
    """Return where a sample and direction of a series begin."""
    return series[0] + sample * series[1] + direction * series[3]


# Where TRITON_INTERPRET=1 is set when this module is imported, the kernels run as NumPy on CPU tensors, for tests.
INTERPRETED = not isinstance(forward, triton.JITFunction)
