/* Dropout behind a plain C interface: one body, compiled for several instruction sets.

   The caller picks an instruction set that best_isa() allows. No threads, no globals: a caller may run disjoint ranges
   of groups at once. */

#include <math.h>
#include <stdint.h>

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

#include "every_isa.h"

EXPORT(drop, drop, drop_args)

int64_t args_size(void) { return (int64_t)sizeof(drop_args); }
