/* Dropout behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint ranges
   of groups at once. */

#include <math.h>
#include <stdint.h>

#include "isa.h"

enum { ROW = 16 };

#if !defined(GROUP) || GROUP != 128
#error "give GROUP, eight rows of 16 numbers, with -D"
#endif

typedef struct {
    int64_t n;          /* numbers */
    uint64_t key;       /* of the random words */
    int64_t threshold;  /* numbers are dropped where 16 random bits are below it */
    double keep_scale;  /* what kept numbers are multiplied by */
    const void *x;
    void *y;
} drop_args;

/* ---- float32, any machine: GCC and clang lower the vectors to what there is ---- */
#define NAME(x) JOIN(x, _portable)
#define TARGET
#define REAL float
#define INTEGER int32_t
#define LANES 4
#include "body.h"

/* ---- float64, any machine ---- */
#define NAME(x) JOIN(x, _doubles)
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
#define AVX2 1
#include "body.h"

#define NAME(x) JOIN(x, _avx512)
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define REAL float
#define INTEGER int32_t
#define LANES 16
#define AVX512 1
#include "body.h"
#endif

int drop_float(const drop_args *args, int64_t first, int64_t last, int isa)
{
#ifdef X86
    if (isa == ISA_AVX512)
        return drop_avx512(args, first, last);
    if (isa == ISA_AVX2)
        return drop_avx2(args, first, last);
#endif
    return drop_portable(args, first, last);
}

/* float64 has one path; it takes the same arguments as float32. */
int drop_double(const drop_args *args, int64_t first, int64_t last, int isa)
{
    (void)isa;
    return drop_doubles(args, first, last);
}

int64_t args_size(void) { return (int64_t)sizeof(drop_args); }
