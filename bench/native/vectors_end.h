/* Forget what vectors.h and philox.h were told and defined, so that they can be included again. */

#undef VEC
#undef LOOSE
#undef MASK
#undef INLINE
#undef NAME
#undef TARGET
#undef REAL
#undef INTEGER
#undef LANES
#undef DOUBLE
#undef AVX2
#undef AVX512
#undef WIDE
#undef WORDS
#undef STREAMS
