/* Forget what vectors.h was told and defined, so that it can be included again. */

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
#undef AVX512
