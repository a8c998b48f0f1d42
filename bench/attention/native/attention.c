/* Attention with dropout behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint ranges
   of pairs, each one head of one window, at once. Functions return 0, or 1 when scratch memory is not to be had. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

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

/* ---- float32, any machine: GCC and clang lower the vectors to what there is ---- */
#define NAME(x) JOIN(x, _portable)
#define TARGET
#define REAL float
#define INTEGER int32_t
#define LANES 4
#define GROUP 4
#include "body.h"

/* ---- float64, any machine ---- */
#define NAME(x) JOIN(x, _double)
#define TARGET
#define REAL double
#define INTEGER int64_t
#define LANES 4
#define GROUP 2
#define DOUBLE 1
#include "body.h"

#ifdef X86
#define NAME(x) JOIN(x, _avx2)
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define INTEGER int32_t
#define LANES 8
#define GROUP 4
#define AVX2 1
#include "body.h"

#define NAME(x) JOIN(x, _avx512)
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define REAL float
#define INTEGER int32_t
#define LANES 16
#define GROUP 8
#define AVX512 1
#include "body.h"
#endif

int attention_forward_float(const attention_args *args, int64_t first, int64_t last, int isa)
{
#ifdef X86
    if (isa == ISA_AVX512)
        return forward_avx512(args, first, last);
    if (isa == ISA_AVX2)
        return forward_avx2(args, first, last);
#endif
    return forward_portable(args, first, last);
}

int attention_backward_float(const attention_args *args, int64_t first, int64_t last, int isa)
{
#ifdef X86
    if (isa == ISA_AVX512)
        return backward_avx512(args, first, last);
    if (isa == ISA_AVX2)
        return backward_avx2(args, first, last);
#endif
    return backward_portable(args, first, last);
}

/* float64 has one path; it takes the same arguments as float32. */
int attention_forward_double(const attention_args *args, int64_t first, int64_t last, int isa)
{
    (void)isa;
    return forward_double(args, first, last);
}

int attention_backward_double(const attention_args *args, int64_t first, int64_t last, int isa)
{
    (void)isa;
    return backward_double(args, first, last);
}

int64_t args_size(void) { return (int64_t)sizeof(attention_args); }
