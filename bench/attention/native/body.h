/* Attention for one precision and instruction set. Included once for each by every_isa.h.

   The lanes of a vector are neighbouring queries, so that maxima, sums and the products over features or keys run down
   columns, and nothing is ever summed across lanes. A tile is one or two vectors of queries (nv); it passes over the keys in
   chunks, keeping the running maximum and sum of each query. Logits are in base 2: log2(e) goes into the queries.

   The gradient draws the logits, probabilities and dropped places of a tile and chunk again. */

#include "vectors.h"
#include "philox.h"

#define UNROLLED _Pragma("GCC unroll 8")
/* Rows of a tile of products that stay in registers. */
#if defined(AVX512)
#define GROUP 8
#elif defined(DOUBLE)
#define GROUP 2
#else
#define GROUP 4
#endif
#define BLOCK 8 /* keys that share one draw of random words */

typedef struct {
    int64_t pair;
    const REAL *q, *k, *v, *out, *d_out;
    REAL *dq, *dk, *dv;
} NAME(pair);

typedef struct {
    REAL *k_blocks, *v_blocks; /* (keys / 8, width, 8) */
    REAL *k_rows, *v_rows;     /* (keys, width) */
    VEC *q, *d_out;            /* (width, nv), queries as lanes */
    VEC *q_rows, *d_out_rows;  /* (queries of a tile, width in whole vectors) */
    VEC *logits, *d_logits;    /* (CHUNK_KEYS, nv) */
    VEC *result;               /* (width, nv) output or gradient of the queries */
    VEC *dk, *dv;              /* (keys, width in whole vectors) */
    void *memory;
} NAME(scratch);

INLINE VEC NAME(larger)(VEC x, VEC y)
{
#if defined(AVX512)
    return (VEC)_mm512_max_ps((__m512)x, (__m512)y);
#elif defined(AVX2)
    return (VEC)_mm256_max_ps((__m256)x, (__m256)y);
#else
    return NAME(select)((MASK)(x > y), x, y);
#endif
}

INLINE int64_t NAME(whole)(int64_t width) { return (width + LANES - 1) / LANES; }

INLINE const REAL *NAME(at)(const attention_args *a, const tensor *t, int64_t pair)
{
    return (const REAL *)t->data + pair / a->heads * t->step.batch + pair % a->heads * t->step.head;
}

INLINE NAME(pair) NAME(pair_at)(const attention_args *a, int64_t pair)
{
    NAME(pair) p = {.pair = pair, .q = NAME(at)(a, &a->q, pair), .k = NAME(at)(a, &a->k, pair)};
    p.v = NAME(at)(a, &a->v, pair);
    p.out = NAME(at)(a, &a->out, pair);
    if (a->d_out.data) {
        p.d_out = NAME(at)(a, &a->d_out, pair);
        p.dq = (REAL *)NAME(at)(a, &a->dq, pair);
        p.dk = (REAL *)NAME(at)(a, &a->dk, pair);
        p.dv = (REAL *)NAME(at)(a, &a->dv, pair);
    }
    return p;
}

/* ---- products: sums stay in registers ---- */

/* out (8, nv) = for 8 keys the sum over features of keys (width, 8) times queries (width, nv). */
INLINE void NAME(key_products)(const REAL *keys, const VEC *queries, VEC *out, int64_t width, const int nv)
{
    for (int first = 0; first < BLOCK; first += GROUP) {
        VEC sums[GROUP][2] = {{{0}}};
        for (int64_t e = 0; e < width; e++) {
            UNROLLED
            for (int i = 0; i < GROUP; i++) {
                const REAL key = keys[e * BLOCK + first + i];
                UNROLLED
                for (int v = 0; v < nv; v++)
                    sums[i][v] += key * queries[e * nv + v];
            }
        }
        UNROLLED
        for (int i = 0; i < GROUP; i++)
            UNROLLED
            for (int v = 0; v < nv; v++)
                out[(first + i) * nv + v] = sums[i][v];
    }
}

/* out (n, nv) += the sum over keys of n features of x (keys, width) times weights (keys, nv). */
INLINE void NAME(feature_sums)(const REAL *x, int64_t width, const VEC *weights, VEC *out, int64_t n_keys, const int n,
                               const int nv)
{
    VEC sums[GROUP][2];
    UNROLLED
    for (int i = 0; i < n; i++)
        UNROLLED
        for (int v = 0; v < nv; v++)
            sums[i][v] = out[i * nv + v];
    for (int64_t c = 0; c < n_keys; c++) {
        UNROLLED
        for (int i = 0; i < n; i++) {
            const REAL feature = x[c * width + i];
            UNROLLED
            for (int v = 0; v < nv; v++)
                sums[i][v] += feature * weights[c * nv + v];
        }
    }
    UNROLLED
    for (int i = 0; i < n; i++)
        UNROLLED
        for (int v = 0; v < nv; v++)
            out[i * nv + v] = sums[i][v];
}

/* The same for all features. */
INLINE void NAME(sum_keys)(const REAL *x, int64_t width, const VEC *weights, VEC *out, int64_t n_keys, const int nv)
{
    int64_t e = 0;
    for (; e + GROUP <= width; e += GROUP)
        NAME(feature_sums)(x + e, width, weights, out + e * nv, n_keys, GROUP, nv);
#if GROUP > 4
    for (; e + 4 <= width; e += 4)
        NAME(feature_sums)(x + e, width, weights, out + e * nv, n_keys, 4, nv);
#endif
#if GROUP > 2
    for (; e + 2 <= width; e += 2)
        NAME(feature_sums)(x + e, width, weights, out + e * nv, n_keys, 2, nv);
#endif
    for (; e < width; e++)
        NAME(feature_sums)(x + e, width, weights, out + e * nv, n_keys, 1, nv);
}

/* out (n, vectors of width) += the sum over queries of weights (n, queries) times m vectors of x (queries, width). */
INLINE void NAME(query_sums)(const REAL *weights, const VEC *x, VEC *out, int64_t row, const int n, const int m,
                             const int nv)
{
    VEC sums[BLOCK][2];
    UNROLLED
    for (int i = 0; i < n; i++)
        UNROLLED
        for (int j = 0; j < m; j++)
            sums[i][j] = out[i * row + j];
    for (int64_t r = 0; r < nv * LANES; r++) {
        UNROLLED
        for (int i = 0; i < n; i++) {
            const REAL weight = weights[i * nv * LANES + r];
            UNROLLED
            for (int j = 0; j < m; j++)
                sums[i][j] += weight * x[r * row + j];
        }
    }
    UNROLLED
    for (int i = 0; i < n; i++)
        UNROLLED
        for (int j = 0; j < m; j++)
            out[i * row + j] = sums[i][j];
}

/* The same for whole blocks of keys and all features. */
INLINE void NAME(sum_queries)(const VEC *weights, const VEC *x, VEC *out, int64_t n_keys, int64_t row, const int nv)
{
    for (int64_t c = 0; c < n_keys; c += BLOCK) {
        const REAL *from = (const REAL *)(weights + c * nv);
        int64_t j = 0;
        for (; j + 2 <= row; j += 2)
            for (int i = 0; i < BLOCK; i += GROUP)
                NAME(query_sums)(from + i * nv * LANES, x + j, out + (c + i) * row + j, row, GROUP, 2, nv);
        for (; j < row; j++)
            NAME(query_sums)(from, x + j, out + c * row + j, row, BLOCK, 1, nv);
    }
}

/* ---- packing: any strides in, contiguous scratch out, zeros where there are no more tokens ---- */

INLINE void NAME(pack_rows)(const REAL *from, const strides *step, int64_t n_tokens, int64_t width, REAL *to)
{
    for (int64_t t = 0; t < n_tokens; t++)
        for (int64_t e = 0; e < width; e++)
            to[t * width + e] = from[t * step->token + e * step->feature];
}

INLINE void NAME(pack_blocks)(const REAL *from, const strides *step, int64_t n_tokens, int64_t width, REAL *to)
{
    for (int64_t c = 0; c < n_tokens; c += BLOCK, to += BLOCK * width) {
        const int64_t n = n_tokens - c < BLOCK ? n_tokens - c : BLOCK;
        if (n < BLOCK)
            memset(to, 0, BLOCK * width * sizeof(REAL));
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < width; e++)
                to[e * BLOCK + i] = from[(c + i) * step->token + e * step->feature];
    }
}

/* Tokens as lanes, times a factor. */
INLINE void NAME(pack_lanes)(const REAL *from, const strides *step, int64_t n_tokens, int64_t width, REAL factor,
                             VEC *to, const int nv)
{
    REAL *lane = (REAL *)to;
    if (n_tokens < nv * LANES)
        memset(to, 0, width * nv * sizeof(VEC));
    for (int64_t r = 0; r < n_tokens; r++)
        for (int64_t e = 0; e < width; e++)
            lane[e * nv * LANES + r] = from[r * step->token + e * step->feature] * factor;
}

/* Features as lanes, times a factor. */
INLINE void NAME(pack_features)(const REAL *from, const strides *step, int64_t n_tokens, int64_t width, REAL factor,
                                VEC *to, const int nv)
{
    const int64_t row = NAME(whole)(width);
    if (n_tokens < nv * LANES || width % LANES)
        memset(to, 0, nv * LANES * row * sizeof(VEC));
    for (int64_t r = 0; r < n_tokens; r++)
        for (int64_t e = 0; e < width; e++)
            ((REAL *)(to + r * row))[e] = from[r * step->token + e * step->feature] * factor;
}

/* Lanes back to tokens, each times its own factor. */
INLINE void NAME(unpack_lanes)(const VEC *from, const VEC *factor, REAL *to, const strides *step, int64_t n_tokens,
                               int64_t width, const int nv)
{
    const REAL *lane = (const REAL *)from, *factors = (const REAL *)factor;
    for (int64_t r = 0; r < n_tokens; r++)
        for (int64_t e = 0; e < width; e++)
            to[r * step->token + e * step->feature] = lane[e * nv * LANES + r] * factors[r];
}

INLINE void NAME(unpack_features)(const VEC *from, REAL factor, REAL *to, const strides *step, int64_t n_tokens,
                                  int64_t width)
{
    const int64_t row = NAME(whole)(width);
    for (int64_t t = 0; t < n_tokens; t++)
        for (int64_t e = 0; e < width; e++)
            to[t * step->token + e * step->feature] = ((const REAL *)(from + t * row))[e] * factor;
}

/* ---- one tile of queries ---- */

/* Logits (keys in whole blocks, nv) of n keys; those after the last are minus infinity. */
INLINE void NAME(chunk_logits)(const REAL *blocks, const VEC *queries, VEC *logits, int64_t n, int64_t width,
                               const int nv)
{
    for (int64_t c = 0; c < n; c += BLOCK)
        NAME(key_products)(blocks + c * width, queries, logits + c * nv, width, nv);
    for (int64_t c = n; c % BLOCK; c++)
        for (int v = 0; v < nv; v++)
            logits[c * nv + v] = NAME(splat)(-(REAL)INFINITY);
}

/* Logits of 8 keys to exponentials, dropped ones zero; their sums with the dropped ones go into sum. */
INLINE void NAME(exponentials)(const attention_args *a, const NAME(pair) *p, int64_t row, int64_t key, VEC *logits,
                               const VEC *maximum, VEC *sum, const int nv)
{
    UNROLLED
    for (int v = 0; v < nv; v++) {
        WORDS words[4];
        if (a->threshold)
            NAME(philox)(row + v * LANES, key / BLOCK, p->pair, a->key, words);
        UNROLLED
        for (int i = 0; i < BLOCK; i++) {
            const VEC x = NAME(exp2v)(logits[i * nv + v] - maximum[v]);
            sum[v] += x;
            logits[i * nv + v] = a->threshold ? NAME(kept)(words[i / 2], i % 2, a->threshold, x) : x;
        }
    }
}

INLINE void NAME(forward_tile)(const attention_args *a, const NAME(pair) *p, const NAME(scratch) *s, int64_t row,
                               const int nv)
{
    const int64_t n_rows = a->n_queries - row < nv * LANES ? a->n_queries - row : nv * LANES;
    const REAL lowest = sizeof(REAL) == 4 ? (REAL)-3e38 : (REAL)-1e308, log2_e = (REAL)1.44269504088896340736;
    VEC maximum[2] = {NAME(splat)(lowest), NAME(splat)(lowest)}, sum[2] = {{0}, {0}}, factor[2];
    NAME(pack_lanes)(p->q + row * a->q.step.token, &a->q.step, n_rows, a->width, (REAL)a->scale * log2_e, s->q, nv);
    memset(s->result, 0, a->v_width * nv * sizeof(VEC));
    for (int64_t c = 0; c < a->n_keys; c += CHUNK_KEYS) {
        const int64_t n = a->n_keys - c < CHUNK_KEYS ? a->n_keys - c : CHUNK_KEYS;
        VEC top[2] = {maximum[0], maximum[1]};
        NAME(chunk_logits)(s->k_blocks + c * a->width, s->q, s->logits, n, a->width, nv);
        for (int64_t i = 0; i < n; i++)
            UNROLLED
            for (int v = 0; v < nv; v++)
                top[v] = NAME(larger)(s->logits[i * nv + v], top[v]);
        UNROLLED
        for (int v = 0; v < nv; v++) {
            const VEC shrink = NAME(exp2v)(maximum[v] - top[v]);
            sum[v] *= shrink;
            maximum[v] = top[v];
            for (int64_t e = 0; e < a->v_width; e++)
                s->result[e * nv + v] *= shrink;
        }
        for (int64_t i = 0; i < n; i += BLOCK)
            NAME(exponentials)(a, p, row, c + i, s->logits + i * nv, maximum, sum, nv);
        NAME(sum_keys)(s->v_rows + c * a->v_width, a->v_width, s->logits, s->result, n, nv);
    }
    for (int v = 0; v < nv; v++) {
        const int64_t left = n_rows - v * LANES, to = p->pair * a->n_queries + row + v * LANES;
        const VEC inverse = 1 / sum[v];
        factor[v] = inverse * (REAL)a->keep_scale;
        if (a->maxima && left > 0) {
            NAME(store)((REAL *)a->maxima + to, maximum[v], left);
            NAME(store)((REAL *)a->inverse_sums + to, inverse, left);
        }
    }
    REAL *to = (REAL *)p->out + row * a->out.step.token;
    NAME(unpack_lanes)(s->result, factor, to, &a->out.step, n_rows, a->v_width, nv);
}

/* Of 8 keys: logits become what the values were weighed by, d_logits (the gradient of these weights) their own. */
INLINE void NAME(weights)(const attention_args *a, const NAME(pair) *p, int64_t row, int64_t key, VEC *logits,
                          VEC *d_logits, const VEC *maximum, const VEC *inverse, const VEC *common, const int nv)
{
    const REAL keep_scale = (REAL)a->keep_scale;
    UNROLLED
    for (int v = 0; v < nv; v++) {
        WORDS words[4];
        if (a->threshold)
            NAME(philox)(row + v * LANES, key / BLOCK, p->pair, a->key, words);
        UNROLLED
        for (int i = 0; i < BLOCK; i++) {
            const VEC probability = NAME(exp2v)(logits[i * nv + v] - maximum[v]) * inverse[v];
            VEC factor = NAME(splat)(keep_scale);
            if (a->threshold)
                factor = NAME(kept)(words[i / 2], i % 2, a->threshold, factor);
            logits[i * nv + v] = probability * factor;
            d_logits[i * nv + v] = probability * (d_logits[i * nv + v] * factor - common[v]);
        }
    }
}

/* The sum over features of d_out times out, of each query: what the softmax takes off the gradient of every logit. */
INLINE void NAME(shared_gradient)(const attention_args *a, const NAME(pair) *p, int64_t row, int64_t n_rows, VEC *common,
                                  const int nv)
{
    REAL *lane = (REAL *)common;
    memset(common, 0, nv * sizeof(VEC));
    for (int64_t r = 0; r < n_rows; r++) {
        const REAL *d_out = p->d_out + (row + r) * a->d_out.step.token, *out = p->out + (row + r) * a->out.step.token;
        REAL sum = 0;
        for (int64_t e = 0; e < a->v_width; e++)
            sum += d_out[e * a->d_out.step.feature] * out[e * a->out.step.feature];
        lane[r] = sum;
    }
}

INLINE void NAME(backward_tile)(const attention_args *a, const NAME(pair) *p, const NAME(scratch) *s, int64_t row,
                                const int nv)
{
    const int64_t n_rows = a->n_queries - row < nv * LANES ? a->n_queries - row : nv * LANES;
    const int64_t from = p->pair * a->n_queries + row, k_row = NAME(whole)(a->width), v_row = NAME(whole)(a->v_width);
    const REAL log2_e = (REAL)1.44269504088896340736, scale = (REAL)a->scale * log2_e;
    const REAL *q = p->q + row * a->q.step.token, *d_out = p->d_out + row * a->d_out.step.token;
    VEC maximum[2], inverse[2], common[2], factor[2];
    for (int v = 0; v < nv; v++) {
        const int64_t left = n_rows - v * LANES;
        maximum[v] = NAME(load)((const REAL *)a->maxima + from + v * LANES, left);
        inverse[v] = NAME(load)((const REAL *)a->inverse_sums + from + v * LANES, left);
        factor[v] = NAME(splat)((REAL)a->scale);
    }
    NAME(shared_gradient)(a, p, row, n_rows, common, nv);
    NAME(pack_lanes)(q, &a->q.step, n_rows, a->width, scale, s->q, nv);
    NAME(pack_features)(q, &a->q.step, n_rows, a->width, (REAL)a->scale, s->q_rows, nv);
    NAME(pack_lanes)(d_out, &a->d_out.step, n_rows, a->v_width, 1, s->d_out, nv);
    NAME(pack_features)(d_out, &a->d_out.step, n_rows, a->v_width, 1, s->d_out_rows, nv);
    memset(s->result, 0, a->width * nv * sizeof(VEC));
    for (int64_t c = 0; c < a->n_keys; c += CHUNK_KEYS) {
        const int64_t n = a->n_keys - c < CHUNK_KEYS ? a->n_keys - c : CHUNK_KEYS;
        NAME(chunk_logits)(s->k_blocks + c * a->width, s->q, s->logits, n, a->width, nv);
        for (int64_t i = 0; i < n; i += BLOCK) {
            NAME(key_products)(s->v_blocks + (c + i) * a->v_width, s->d_out, s->d_logits + i * nv, a->v_width, nv);
            NAME(weights)(a, p, row, c + i, s->logits + i * nv, s->d_logits + i * nv, maximum, inverse, common, nv);
        }
        NAME(sum_keys)(s->k_rows + c * a->width, a->width, s->d_logits, s->result, n, nv);
        NAME(sum_queries)(s->logits, s->d_out_rows, s->dv + c * v_row, n, v_row, nv);
        NAME(sum_queries)(s->d_logits, s->q_rows, s->dk + c * k_row, n, k_row, nv);
    }
    REAL *to = p->dq + row * a->dq.step.token;
    NAME(unpack_lanes)(s->result, factor, to, &a->dq.step, n_rows, a->width, nv);
}

/* ---- ranges of pairs ---- */

INLINE VEC *NAME(take)(char **free_from, int64_t n_vectors)
{
    VEC *taken = (VEC *)*free_from;
    *free_from += n_vectors * sizeof(VEC);
    return taken;
}

/* Scratch for one pair after the other; its memory is NULL when there is none to be had. */
TARGET static NAME(scratch) NAME(scratch_for)(const attention_args *a)
{
    const int64_t keys = (a->n_keys + BLOCK - 1) / BLOCK * BLOCK, k_row = NAME(whole)(a->width);
    const int64_t v_row = NAME(whole)(a->v_width), rows = k_row + v_row, tile = 2 * LANES;
    NAME(scratch) s = {.memory = NULL};
    const int64_t vectors = 2 * keys * rows + 4 * tile * rows + 4 * CHUNK_KEYS + (a->d_out.data ? keys * rows : 0);
    if (posix_memalign(&s.memory, 64, vectors * sizeof(VEC)))
        s.memory = NULL;
    char *next = s.memory;
    s.k_blocks = (REAL *)NAME(take)(&next, keys * k_row);
    s.k_rows = (REAL *)NAME(take)(&next, keys * k_row);
    s.v_blocks = (REAL *)NAME(take)(&next, keys * v_row);
    s.v_rows = (REAL *)NAME(take)(&next, keys * v_row);
    s.q = NAME(take)(&next, tile * k_row);
    s.d_out = NAME(take)(&next, tile * v_row);
    s.q_rows = NAME(take)(&next, tile * k_row);
    s.d_out_rows = NAME(take)(&next, tile * v_row);
    s.result = NAME(take)(&next, 2 * tile * rows);
    s.logits = NAME(take)(&next, 2 * CHUNK_KEYS);
    s.d_logits = NAME(take)(&next, 2 * CHUNK_KEYS);
    s.dk = NAME(take)(&next, a->d_out.data ? keys * k_row : 0);
    s.dv = NAME(take)(&next, a->d_out.data ? keys * v_row : 0);
    return s;
}

TARGET static int NAME(forward)(const attention_args *a, int64_t first, int64_t last)
{
    const NAME(scratch) s = NAME(scratch_for)(a);
    if (!s.memory)
        return 1;
    for (int64_t pair = first; pair < last; pair++) {
        const NAME(pair) p = NAME(pair_at)(a, pair);
        NAME(pack_blocks)(p.k, &a->k.step, a->n_keys, a->width, s.k_blocks);
        NAME(pack_rows)(p.v, &a->v.step, a->n_keys, a->v_width, s.v_rows);
        int64_t row = 0;
        for (; row + LANES < a->n_queries; row += 2 * LANES)
            NAME(forward_tile)(a, &p, &s, row, 2);
        if (row < a->n_queries)
            NAME(forward_tile)(a, &p, &s, row, 1);
    }
    free(s.memory);
    return 0;
}

TARGET static int NAME(backward)(const attention_args *a, int64_t first, int64_t last)
{
    const int64_t keys = (a->n_keys + BLOCK - 1) / BLOCK * BLOCK;
    const NAME(scratch) s = NAME(scratch_for)(a);
    if (!s.memory)
        return 1;
    for (int64_t pair = first; pair < last; pair++) {
        const NAME(pair) p = NAME(pair_at)(a, pair);
        NAME(pack_blocks)(p.k, &a->k.step, a->n_keys, a->width, s.k_blocks);
        NAME(pack_rows)(p.k, &a->k.step, a->n_keys, a->width, s.k_rows);
        NAME(pack_blocks)(p.v, &a->v.step, a->n_keys, a->v_width, s.v_blocks);
        memset(s.dk, 0, keys * NAME(whole)(a->width) * sizeof(VEC));
        memset(s.dv, 0, keys * NAME(whole)(a->v_width) * sizeof(VEC));
        int64_t row = 0;
        for (; row + LANES < a->n_queries; row += 2 * LANES)
            NAME(backward_tile)(a, &p, &s, row, 2);
        if (row < a->n_queries)
            NAME(backward_tile)(a, &p, &s, row, 1);
        NAME(unpack_features)(s.dk, 1, p.dk, &a->dk.step, a->n_keys, a->width);
        NAME(unpack_features)(s.dv, 1, p.dv, &a->dv.step, a->n_keys, a->v_width);
    }
    free(s.memory);
    return 0;
}

#undef UNROLLED
#undef BLOCK
#undef GROUP
#include "vectors_end.h"
