/* Attention with dropout behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint ranges
   of pairs, each one head of one window, at once. Functions return 0, or 1 when scratch memory is not to be had. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Keys that are dealt with at a time: few enough that their logits for one tile of queries stay in the first cache. */
#if !defined(CHUNK_KEYS) || CHUNK_KEYS % 8
#error "give CHUNK_KEYS (a multiple of 8) with -D"
#endif

/* Numbers between neighbours along the axes of (batch, heads, tokens, width). */
typedef struct {
    int64_t batch, head, token, feature;
} strides;

typedef struct {
    const void *data;
    strides step;
} tensor;

typedef struct {
    int64_t heads, n_queries, n_keys, width, v_width;
    uint64_t key;       /* of the random numbers */
    int64_t threshold;  /* probabilities are dropped where 16 random bits are below it; 0 drops none */
    double keep_scale;  /* what kept probabilities are multiplied by */
    double scale;       /* of the logits */
    tensor q, k, v, out;
    void *maxima, *inverse_sums; /* (batch * heads, n_queries), of logits in base 2; NULL when no gradient is wanted */
    tensor d_out, dq, dk, dv;
} attention_args;

#include "every_isa.h"

EXPORT(attention_forward, forward, attention_args)
EXPORT(attention_backward, backward, attention_args)

int64_t args_size(void) { return (int64_t)sizeof(attention_args); }
