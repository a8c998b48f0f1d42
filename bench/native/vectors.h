/* Vectors of one precision and instruction set. Included by a kernel's body once for each, with
   NAME(x), TARGET, REAL, INTEGER (as wide as REAL), LANES and, for some, DOUBLE, AVX2 or AVX512 defined. vectors_end.h forgets
   all of it.

   NaN and infinity must pass: a bound is always written so that a comparison with NaN keeps the NaN. */

#define VEC NAME(vec)
#define LOOSE NAME(loose)
#define MASK NAME(mask)
#define INLINE static inline __attribute__((always_inline)) TARGET

typedef REAL VEC __attribute__((vector_size(LANES * sizeof(REAL))));
typedef REAL LOOSE __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
typedef INTEGER MASK __attribute__((vector_size(LANES * sizeof(REAL))));

INLINE VEC NAME(splat)(REAL x) { return x - (VEC){0}; }
INLINE VEC NAME(select)(MASK where, VEC yes, VEC no) { return (VEC)((where & (MASK)yes) | (~where & (MASK)no)); }

/* The first count lanes from memory, zeros in the others. */
INLINE VEC NAME(load)(const REAL *from, int64_t count)
{
    VEC x = {0};
    if (count >= LANES)
        return *(const LOOSE *)from;
    for (int64_t i = 0; i < count; i++)
        x[i] = from[i];
    return x;
}

INLINE void NAME(store)(REAL *to, VEC x, int64_t count)
{
    if (count >= LANES)
        *(LOOSE *)to = x;
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
}

INLINE REAL NAME(sum_lanes)(VEC x)
{
#ifdef AVX512
    return _mm512_reduce_add_ps((__m512)x);
#else
    REAL total = 0;
    for (int i = 0; i < LANES; i += 4)
        total += (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
    return total;
#endif
}

#ifdef DOUBLE
INLINE VEC NAME(exp2v)(VEC x)
{
    for (int i = 0; i < LANES; i++)
        x[i] = exp2(x[i]);
    return x;
}
#else
/* 2^f for f in [-1/2, 1/2], relative error 1e-7. */
INLINE VEC NAME(exp2_fraction)(VEC f)
{
    VEC p = f * 1.32647e-3f + 9.67151e-3f;
    p = p * f + 5.550734e-2f;
    p = p * f + 2.4022242e-1f;
    p = p * f + 6.9314698e-1f;
    return p * f + 1.0f;
}

INLINE VEC NAME(exp2v)(VEC x)
{
#ifdef AVX512
    /* Both instructions treat infinities as 2^x needs them: the fraction is 0, the power 0 or infinity. */
    __m512 f = _mm512_reduce_ps((__m512)x, 8);
    return (VEC)_mm512_scalef_ps((__m512)NAME(exp2_fraction)((VEC)f), _mm512_sub_ps((__m512)x, f));
#else
    const VEC low = NAME(splat)(-127.0f), high = NAME(splat)(128.0f); /* give exactly 0 and infinity */
    const float magic = 12582912.0f;                                  /* rounds to integers in its low bits */
    x = NAME(select)((MASK)(x < low), low, x);
    x = NAME(select)((MASK)(x > high), high, x);
    VEC shifted = x + magic;
    VEC p = NAME(exp2_fraction)(x - (shifted - magic));
    MASK power = ((MASK)shifted << 23) + (127 << 23);
    return p * (VEC)power;
#endif
}
#endif
