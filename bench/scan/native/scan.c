/* The selective scan behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint
   ranges of samples at once. Functions return 0, or 1 when scratch memory is not to be had. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

/* Largest d_state, largest number of steps in a chunk, and the number of features to a multiple of which parameters
   are padded: the caller's, so that both sides agree. */
#if !defined(MAX_STATE) || !defined(MAX_CHUNK) || !defined(PADDED_LANES) || PADDED_LANES % 16
#error "give MAX_STATE, MAX_CHUNK and PADDED_LANES (a multiple of 16, the widest vector) with -D"
#endif

/* Numbers between neighbours along the first axes of (batch, n_times, n_directions, last); the last is contiguous. */
typedef struct {
    int64_t sample, time, direction;
} strides;

/* Features come in groups of PADDED_LANES, the last one filled up with zeros; n_groups for each direction. */
typedef struct {
    int64_t batch, n_times, n_directions, dim, padded_dim, d_state, chunk, n_chunks;
    int64_t u_directions;   /* 1 when all directions read the same u */
    int64_t slice_samples;  /* samples that share one row of sums */
    const int64_t *reverse; /* (n_directions,) */
    const void *u, *delta, *B, *C, *dy;
    strides u_strides, delta_strides, B_strides, C_strides, dy_strides;
    const void *A2;              /* A log2(e) (n_directions, n_groups, d_state, PADDED_LANES) */
    const void *D, *delta_bias;  /* (n_directions, padded_dim) */
    void *y;                     /* (batch, n_times, n_directions, dim) */
    void *borders;               /* states before all chunks but the first (batch, n_chunks - 1, and then like A2), or NULL */
    void *du, *ddelta, *dB, *dC; /* contiguous, shaped like their inputs */
    void *dA2, *dD, *ddelta_bias; /* (slices, and then like their parameters), zero at the start */
} scan_args;

/* Features of all directions, padding included. */
static inline int64_t parameters(const scan_args *a) { return a->n_directions * a->padded_dim; }

static inline int64_t chunk_length(const scan_args *a, int64_t chunk)
{
    const int64_t left = a->n_times - chunk * a->chunk;
    return left < a->chunk ? left : a->chunk;
}

/* ---- float32, any machine: GCC and clang lower the vectors to what there is ---- */
#define NAME(x) JOIN(x, _portable)
#define TARGET
#define REAL float
#define INTEGER int32_t
#define LANES 4
#include "body.h"

/* ---- float64, any machine ---- */
#define NAME(x) JOIN(x, _double)
#define TARGET
#define REAL double
#define INTEGER int64_t
#define LANES 4
#define DOUBLE 1
#include "body.h"

#ifdef X86
#define NAME(x) JOIN(x, _avx2)
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define INTEGER int32_t
#define LANES 8
#define UNROLL 1
#include "body.h"

#define NAME(x) JOIN(x, _avx512)
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define REAL float
#define INTEGER int32_t
#define LANES 16
#define UNROLL 1
#define AVX512 1
#include "body.h"
#endif

int scan_forward_float(const scan_args *args, int64_t first, int64_t last, int isa)
{
#ifdef X86
    if (isa == ISA_AVX512)
        return forward_avx512(args, first, last);
    if (isa == ISA_AVX2)
        return forward_avx2(args, first, last);
#endif
    return forward_portable(args, first, last);
}

int scan_backward_float(const scan_args *args, int64_t first, int64_t last, int isa)
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
int scan_forward_double(const scan_args *args, int64_t first, int64_t last, int isa)
{
    (void)isa;
    return forward_double(args, first, last);
}

int scan_backward_double(const scan_args *args, int64_t first, int64_t last, int isa)
{
    (void)isa;
    return backward_double(args, first, last);
}

/* To be called once, when backward is done for all samples. */
void scan_add_slices_float(const scan_args *args)
{
    const int64_t n_slices = (args->batch + args->slice_samples - 1) / args->slice_samples;
    add_slices_portable(args->dA2, n_slices, parameters(args) * args->d_state);
    add_slices_portable(args->dD, n_slices, parameters(args));
    add_slices_portable(args->ddelta_bias, n_slices, parameters(args));
}

void scan_add_slices_double(const scan_args *args)
{
    const int64_t n_slices = (args->batch + args->slice_samples - 1) / args->slice_samples;
    add_slices_double(args->dA2, n_slices, parameters(args) * args->d_state);
    add_slices_double(args->dD, n_slices, parameters(args));
    add_slices_double(args->ddelta_bias, n_slices, parameters(args));
}

int64_t args_size(void) { return (int64_t)sizeof(scan_args); }
