/* The selective scan behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint
   ranges of samples at once. Functions return 0, or 1 when scratch memory is not to be had. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

#include "every_isa.h"

EXPORT(scan_forward, forward, scan_args)
EXPORT(scan_backward, backward, scan_args)

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
    add_slices_wide(args->dA2, n_slices, parameters(args) * args->d_state);
    add_slices_wide(args->dD, n_slices, parameters(args));
    add_slices_wide(args->ddelta_bias, n_slices, parameters(args));
}

int64_t args_size(void) { return (int64_t)sizeof(scan_args); }
