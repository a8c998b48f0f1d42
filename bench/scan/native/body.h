/* The scan for one precision and instruction set. Included once for each by every_isa.h.

   A vector holds the same number of LANES neighbouring features; the states of one block of features stay in registers
   while time runs. The gradient walks over chunks from the last to the first: it recomputes the states of a chunk from its
   border, then runs backwards. Sums over features (dB, dC) collect in vectors and are reduced once a chunk. */

#include "vectors.h"

#if defined(AVX2) || defined(AVX512) /* a loop over 16 states; their registers are worth it where there are enough */
#define LOOP_UNROLLED _Pragma("GCC unroll 16")
#else
#define LOOP_UNROLLED
#endif

#ifdef DOUBLE
INLINE VEC NAME(log1pv)(VEC z)
{
    for (int i = 0; i < LANES; i++)
        z[i] = log1p(z[i]);
    return z;
}

INLINE VEC NAME(expv)(VEC x)
{
    for (int i = 0; i < LANES; i++)
        x[i] = exp(x[i]);
    return x;
}
#else
/* log(1 + z) for z in [0, 1], as twice the inverse hyperbolic tangent of z / (2 + z). */
INLINE VEC NAME(log1pv)(VEC z)
{
    VEC s = z / (z + 2.0f), q = s * s;
    VEC p = q * 1.4005994e-1f + 1.4000902e-1f;
    p = p * q + 2.0010764e-1f;
    p = p * q + 3.3333208e-1f;
    p = p * q + 1.0f;
    return (s + s) * p;
}

/* exp for numbers up to zero, by whole powers of two and a rest: rounding x log2(e) would cost digits. */
INLINE VEC NAME(expv)(VEC x)
{
    const VEC low = NAME(splat)(-104.0f); /* gives exactly 0 */
    const float log2_e = 1.44269504f, ln_2_high = 0.693359375f, ln_2_low = -2.12194440e-4f, magic = 12582912.0f;
    x = NAME(select)((MASK)(x < low), low, x);
    VEC whole = (x * log2_e + magic) - magic;
    VEC rest = (x - whole * ln_2_high) - whole * ln_2_low;
    return NAME(exp2_fraction)(rest * log2_e) * NAME(exp2v)(whole);
}
#endif

/* step = softplus(raw), slope = its derivative. */
INLINE void NAME(softplus)(VEC raw, VEC *step, VEC *slope)
{
    const VEC zero = {0}, one = NAME(splat)(1);
    MASK positive = (MASK)(raw > zero);
    VEC z = NAME(expv)(NAME(select)(positive, -raw, raw));
    VEC inverse = one / (one + z);
    *step = NAME(select)(positive, raw, zero) + NAME(log1pv)(z);
    *slope = NAME(select)(positive, inverse, z * inverse);
}

/* One block of features of one sample and direction. Pointers are at the block's first feature; the rows of parameters
   and borders, one a state, are PADDED_LANES apart. */
typedef struct {
    const scan_args *args;
    int64_t sample, direction, count, reverse;
    const REAL *u, *delta, *B, *C, *dy, *A2;
    REAL *y, *borders, *du, *ddelta, *dA2, *dD, *dbias;
    VEC D, bias;
} NAME(block);

INLINE NAME(block) NAME(block_at)(const scan_args *a, int64_t b, int64_t k, int64_t j)
{
    const int64_t k_u = a->u_directions == 1 ? 0 : k, row = k * a->padded_dim + j;
    const int64_t lane = j % PADDED_LANES, table = (row - lane) * a->d_state + lane; /* into (..., d_state, PADDED_LANES) */
    const int64_t out = ((b * a->n_times) * a->n_directions + k) * a->dim + j;
    const int64_t out_u = ((b * a->n_times) * a->u_directions + k_u) * a->dim + j;
    NAME(block) p = {.args = a, .sample = b, .direction = k};
    p.count = a->dim - j;
    p.reverse = a->reverse[k];
    p.u = (const REAL *)a->u + b * a->u_strides.sample + k_u * a->u_strides.direction + j;
    p.delta = (const REAL *)a->delta + b * a->delta_strides.sample + k * a->delta_strides.direction + j;
    p.B = (const REAL *)a->B + b * a->B_strides.sample + k * a->B_strides.direction;
    p.C = (const REAL *)a->C + b * a->C_strides.sample + k * a->C_strides.direction;
    p.A2 = (const REAL *)a->A2 + table;
    p.D = *(const LOOSE *)((const REAL *)a->D + row);
    p.bias = *(const LOOSE *)((const REAL *)a->delta_bias + row);
    p.y = (REAL *)a->y + out;
    if (a->borders)
        p.borders = (REAL *)a->borders + b * (a->n_chunks - 1) * parameters(a) * a->d_state + table;
    if (a->dy) {
        const int64_t slice = b / a->slice_samples * parameters(a);
        p.dy = (const REAL *)a->dy + b * a->dy_strides.sample + k * a->dy_strides.direction + j;
        p.du = (REAL *)a->du + out_u;
        p.ddelta = (REAL *)a->ddelta + out;
        p.dA2 = (REAL *)a->dA2 + slice * a->d_state + table;
        p.dD = (REAL *)a->dD + slice + row;
        p.dbias = (REAL *)a->ddelta_bias + slice + row;
    }
    return p;
}

/* The n-th state before a chunk other than the first, which starts from zero. */
INLINE LOOSE *NAME(border)(const NAME(block) *p, int64_t chunk, int64_t n)
{
    return (LOOSE *)(p->borders + (chunk - 1) * parameters(p->args) * p->args->d_state + n * PADDED_LANES);
}

/* Ask for what the next block reads of this row, which is the next cache line. */
INLINE void NAME(prefetch)(const REAL *row) { __builtin_prefetch(row + 16); }

/* The time of the i-th step in the direction's order. */
INLINE int64_t NAME(time_of)(const NAME(block) *p, int64_t i) { return p->reverse ? p->args->n_times - 1 - i : i; }

/* The steps of a chunk and their slopes, apart from the recurrence so that their long latencies overlap. */
INLINE void NAME(steps)(const NAME(block) *p, int64_t first, int64_t length, VEC *step, VEC *slope)
{
    for (int64_t i = 0; i < length; i++) {
        const REAL *delta = p->delta + NAME(time_of)(p, first + i) * p->args->delta_strides.time;
        NAME(prefetch)(delta);
        NAME(softplus)(NAME(load)(delta, p->count) + p->bias, step + i, slope + i);
    }
}

INLINE void NAME(forward_chunk)(const NAME(block) *p, int64_t first, int64_t length, VEC *h, const int64_t n_state)
{
    const scan_args *a = p->args;
    VEC step[MAX_CHUNK], slope[MAX_CHUNK];
    NAME(steps)(p, first, length, step, slope);
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = NAME(time_of)(p, first + i);
        const REAL *b = p->B + t * a->B_strides.time, *c = p->C + t * a->C_strides.time;
        const REAL *at_u = p->u + t * a->u_strides.time;
        NAME(prefetch)(at_u);
        const VEC u = NAME(load)(at_u, p->count), entering = step[i] * u;
        VEC even = p->D * u, odd = {0};
        LOOP_UNROLLED
        for (int64_t n = 0; n < n_state; n++) {
            const VEC decay = NAME(exp2v)(step[i] * *(const LOOSE *)(p->A2 + n * PADDED_LANES));
            h[n] = h[n] * decay + entering * b[n];
            if (n % 2)
                odd += h[n] * c[n];
            else
                even += h[n] * c[n];
        }
        NAME(store)(p->y + t * a->n_directions * a->dim, even + odd, p->count);
    }
}

INLINE void NAME(forward_block)(const NAME(block) *p, const int64_t n_state)
{
    const scan_args *a = p->args;
    VEC h[MAX_STATE];
    LOOP_UNROLLED
    for (int64_t n = 0; n < n_state; n++)
        h[n] = (VEC){0};
    for (int64_t chunk = 0; chunk < a->n_chunks; chunk++) {
        if (p->borders && chunk > 0)
            for (int64_t n = 0; n < n_state; n++)
                *NAME(border)(p, chunk, n) = h[n];
        NAME(forward_chunk)(p, chunk * a->chunk, chunk_length(a, chunk), h, n_state);
    }
}

TARGET static int NAME(forward)(const scan_args *a, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++)
        for (int64_t k = 0; k < a->n_directions; k++)
            for (int64_t j = 0; j < a->dim; j += LANES) {
                const NAME(block) p = NAME(block_at)(a, b, k, j);
                if (a->d_state == 16)
                    NAME(forward_block)(&p, 16);
                else
                    NAME(forward_block)(&p, a->d_state);
            }
    return 0;
}

/* Scratch of a range of samples. A row is one step in time: four times d_state vectors, in this order. */
enum { NAME(STATE), NAME(DECAY), NAME(D_B), NAME(D_C), NAME(ROW) };

typedef struct {
    VEC *rows;         /* (chunk + 1, 4, d_state); the first holds the state before the chunk */
    VEC *step, *slope; /* (chunk,) */
    VEC *carry;        /* (blocks, d_state) gradient of the state that enters the later chunk */
} NAME(scratch);

/* Recompute a chunk's steps, decays and states from its border. */
INLINE void NAME(recompute)(const NAME(block) *p, const NAME(scratch) *s, int64_t chunk, int64_t length,
                            const int64_t n_state)
{
    const scan_args *a = p->args;
    VEC h[MAX_STATE];
    LOOP_UNROLLED
    for (int64_t n = 0; n < n_state; n++)
        s->rows[n] = h[n] = chunk > 0 ? (VEC)*NAME(border)(p, chunk, n) : (VEC){0};
    NAME(steps)(p, chunk * a->chunk, length, s->step, s->slope);
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = NAME(time_of)(p, chunk * a->chunk + i);
        const REAL *b = p->B + t * a->B_strides.time, *at_u = p->u + t * a->u_strides.time;
        NAME(prefetch)(at_u);
        const VEC step = s->step[i], entering = step * NAME(load)(at_u, p->count);
        VEC *row = s->rows + (i + 1) * NAME(ROW) * n_state;
        LOOP_UNROLLED
        for (int64_t n = 0; n < n_state; n++) {
            const VEC decay = NAME(exp2v)(step * *(const LOOSE *)(p->A2 + n * PADDED_LANES));
            row[n] = h[n] = h[n] * decay + entering * b[n];
            row[NAME(DECAY) * n_state + n] = decay;
        }
    }
}

/* One step backwards: g is the gradient of the state after it, and becomes that of the state before it. */
INLINE void NAME(backward_step)(const NAME(block) *p, const NAME(scratch) *s, int64_t i, int64_t t, VEC *g,
                                VEC *sum_D, VEC *sum_bias, const int64_t n_state)
{
    const scan_args *a = p->args;
    const REAL *b = p->B + t * a->B_strides.time, *c = p->C + t * a->C_strides.time;
    const REAL *at_dy = p->dy + t * a->dy_strides.time;
    NAME(prefetch)(at_dy);
    const VEC u = NAME(load)(p->u + t * a->u_strides.time, p->count), dy = NAME(load)(at_dy, p->count);
    const VEC step = s->step[i], entering = step * u;
    VEC *before = s->rows + i * NAME(ROW) * n_state, *row = before + NAME(ROW) * n_state;
    VEC d_entering = {0}, d_exponent_A2 = {0};
    LOOP_UNROLLED
    for (int64_t n = 0; n < n_state; n++) {
        const VEC d_state = g[n] + dy * c[n];
        row[NAME(D_C) * n_state + n] += dy * row[n];
        row[NAME(D_B) * n_state + n] += entering * d_state;
        d_entering += d_state * b[n];
        g[n] = d_state * row[NAME(DECAY) * n_state + n];
        const VEC d_exponent = g[n] * before[n];
        d_exponent_A2 += d_exponent * *(const LOOSE *)(p->A2 + n * PADDED_LANES);
        *(LOOSE *)(p->dA2 + n * PADDED_LANES) += d_exponent * step;
    }
    const REAL ln_2 = (REAL)0.69314718055994530942;
    const VEC ddelta = (d_entering * u + d_exponent_A2 * ln_2) * s->slope[i];
    NAME(store)(p->ddelta + t * a->n_directions * a->dim, ddelta, p->count);
    REAL *to_u = p->du + t * a->u_directions * a->dim;
    VEC du = d_entering * step + dy * p->D;
    if (a->u_directions == 1 && p->direction > 0)
        du += NAME(load)(to_u, p->count);
    NAME(store)(to_u, du, p->count);
    *sum_D += dy * u;
    *sum_bias += ddelta;
}

INLINE void NAME(backward_block)(const NAME(block) *p, const NAME(scratch) *s, int64_t chunk, int64_t length,
                                 VEC *carry, const int64_t n_state)
{
    VEC g[MAX_STATE], sum_D = *(LOOSE *)p->dD, sum_bias = *(LOOSE *)p->dbias;
    NAME(recompute)(p, s, chunk, length, n_state);
    LOOP_UNROLLED
    for (int64_t n = 0; n < n_state; n++)
        g[n] = carry[n];
    for (int64_t i = length - 1; i >= 0; i--)
        NAME(backward_step)(p, s, i, NAME(time_of)(p, chunk * p->args->chunk + i), g, &sum_D, &sum_bias, n_state);
    LOOP_UNROLLED
    for (int64_t n = 0; n < n_state; n++)
        carry[n] = g[n];
    *(LOOSE *)p->dD = sum_D;
    *(LOOSE *)p->dbias = sum_bias;
}

/* Sum the lanes of a chunk's dB and dC into place. */
INLINE void NAME(reduce_features)(const NAME(block) *p, const NAME(scratch) *s, int64_t chunk, int64_t length)
{
    const scan_args *a = p->args;
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = NAME(time_of)(p, chunk * a->chunk + i);
        const int64_t to = ((p->sample * a->n_times + t) * a->n_directions + p->direction) * a->d_state;
        const VEC *row = s->rows + (i + 1) * NAME(ROW) * a->d_state;
        for (int64_t n = 0; n < a->d_state; n++) {
            ((REAL *)a->dB)[to + n] = NAME(sum_lanes)(row[NAME(D_B) * a->d_state + n]);
            ((REAL *)a->dC)[to + n] = NAME(sum_lanes)(row[NAME(D_C) * a->d_state + n]);
        }
    }
}

TARGET static void NAME(backward_direction)(const scan_args *a, int64_t b, int64_t k, const NAME(scratch) *s)
{
    const int64_t n_blocks = (a->dim + LANES - 1) / LANES, n_state = a->d_state;
    memset(s->carry, 0, n_blocks * n_state * sizeof(VEC));
    for (int64_t chunk = a->n_chunks - 1; chunk >= 0; chunk--) {
        const int64_t length = chunk_length(a, chunk);
        for (int64_t i = 1; i <= length; i++)
            memset(s->rows + (i * NAME(ROW) + NAME(D_B)) * n_state, 0, 2 * n_state * sizeof(VEC));
        for (int64_t j = 0; j < n_blocks; j++) {
            const NAME(block) p = NAME(block_at)(a, b, k, j * LANES);
            if (n_state == 16)
                NAME(backward_block)(&p, s, chunk, length, s->carry + j * n_state, 16);
            else
                NAME(backward_block)(&p, s, chunk, length, s->carry + j * n_state, n_state);
        }
        const NAME(block) p = NAME(block_at)(a, b, k, 0);
        NAME(reduce_features)(&p, s, chunk, length);
    }
}

TARGET static int NAME(backward)(const scan_args *a, int64_t first, int64_t last)
{
    const int64_t n_blocks = (a->dim + LANES - 1) / LANES, rows = (a->chunk + 1) * NAME(ROW) * a->d_state;
    void *memory = NULL;
    if (posix_memalign(&memory, 64, (rows + 2 * a->chunk + n_blocks * a->d_state) * sizeof(VEC)))
        return 1;
    NAME(scratch) s;
    s.rows = memory;
    s.step = s.rows + rows;
    s.slope = s.step + a->chunk;
    s.carry = s.slope + a->chunk;
    for (int64_t b = first; b < last; b++)
        for (int64_t k = 0; k < a->n_directions; k++)
            NAME(backward_direction)(a, b, k, &s);
    free(memory);
    return 0;
}

/* Add the slices' sums of count parameters, from the first to the last, into the first. */
static inline void NAME(add_slices)(REAL *sums, int64_t n_slices, int64_t count)
{
    for (int64_t slice = 1; slice < n_slices; slice++)
        for (int64_t i = 0; i < count; i++)
            sums[i] += sums[slice * count + i];
}

#undef LOOP_UNROLLED
#include "vectors_end.h"
