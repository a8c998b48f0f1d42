/* Dropout for one precision and instruction set. Included once for each by every_isa.h.

   A group is 8 rows of 16 neighbouring numbers; a row's lanes take their bits from the same half of the same word. */

#include "vectors.h"
#include "philox.h"

TARGET static int NAME(drop)(const drop_args *a, int64_t first, int64_t last)
{
    const VEC keep_scale = NAME(splat)((REAL)a->keep_scale);
    const REAL *x = a->x;
    REAL *y = a->y;
    for (int64_t group = first; group < last; group++)
        for (int64_t lane = 0; lane < ROW; lane += LANES) {
            WORDS words[4];
            NAME(philox)(group * ROW + lane, (uint32_t)(group * ROW >> 32), 0, a->key, words);
            _Pragma("GCC unroll 8")
            for (int i = 0; i < GROUP / ROW; i++) {
                const int64_t at = group * GROUP + i * ROW + lane, left = a->n - at;
                const VEC factor = NAME(kept)(words[i / 2], i % 2, a->threshold, keep_scale);
                NAME(store)(y + at, NAME(load)(x + at, left) * factor, left);
            }
        }
    return 0;
}

#include "vectors_end.h"
