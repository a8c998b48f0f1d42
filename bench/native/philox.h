/* Philox4x32-7: random words that depend on a key and a counter alone, for LANES neighbouring counters at once. Included
   after vectors.h, with AVX2 or AVX512 defined where there is a product of 32 by 32 bits.

   Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011): multipliers, Weyl constants, and table 2,
   by which seven rounds pass BigCrush. */

#define WIDE NAME(wide)
#define WORDS NAME(words)
typedef uint64_t WIDE __attribute__((vector_size(LANES * sizeof(REAL))));
#ifdef DOUBLE
typedef uint64_t WORDS __attribute__((vector_size(LANES * sizeof(REAL))));
#define STREAMS 1
#else
typedef uint32_t WORDS __attribute__((vector_size(LANES * sizeof(REAL))));
#define STREAMS 2
#endif

/* The low halves of x times m. High halves of x may hold anything. */
INLINE WIDE NAME(times)(WIDE x, uint32_t m)
{
#if defined(AVX512)
    return (WIDE)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(m));
#elif defined(AVX2)
    return (WIDE)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(m));
#else
    return (x & 0xffffffffu) * m;
#endif
}

/* Four words of each counter (x0, c1, c2, 0) in the low halves of 64 bits, and anything in the high halves. */
INLINE void NAME(rounds)(WIDE x0, uint32_t c1, uint32_t c2, uint64_t key, WIDE *words)
{
    const WIDE zero = {0};
    WIDE x1 = zero + c1, x2 = zero + c2, x3 = zero;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    _Pragma("GCC unroll 7")
    for (int i = 0; i < 7; i++) {
        const WIDE p0 = NAME(times)(x0, 0xD2511F53u), p1 = NAME(times)(x2, 0xCD9E8D57u);
        x0 = (p1 >> 32) ^ x1 ^ (zero + k0);
        x1 = p1;
        x2 = (p0 >> 32) ^ x3 ^ (zero + k1);
        x3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    words[0] = x0, words[1] = x1, words[2] = x2, words[3] = x3;
}

/* The four words of the counters (first + lane, c1, c2, 0). */
INLINE void NAME(philox)(int64_t first, uint32_t c1, uint32_t c2, uint64_t key, WORDS *words)
{
    WIDE lanes[STREAMS], parts[STREAMS][4];
    for (int s = 0; s < STREAMS; s++)
        for (int i = 0; i < LANES / STREAMS; i++)
            lanes[s][i] = STREAMS * i + s;
    for (int s = 0; s < STREAMS; s++)
        NAME(rounds)(lanes[s] + (uint64_t)first, c1, c2, key, parts[s]);
    for (int i = 0; i < 4; i++) {
#ifdef DOUBLE
        words[i] = parts[0][i] & 0xffffffffu;
#else
        words[i] = (WORDS)((parts[0][i] & 0xffffffffu) | (parts[1][i] << 32));
#endif
    }
}

/* x where 16 bits of a word (its high ones where odd) are at least threshold, which is below 2^16; else zero. */
INLINE VEC NAME(kept)(WORDS word, const int odd, uint32_t threshold, VEC x)
{
#ifdef AVX512
    const __m512i bits = odd ? (__m512i)word : _mm512_slli_epi32((__m512i)word, 16);
    return (VEC)_mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(bits, _mm512_set1_epi32(threshold << 16)), (__m512)x);
#else
    const MASK bits = odd ? (MASK)(word >> 16) : (MASK)(word & 0xffff);
    return (VEC)((MASK)x & (MASK)(bits >= (INTEGER)threshold));
#endif
}
