/* Compiles the kernel's body.h for every instruction set, by including it again and again.

   body.h sees NAME(x), TARGET, REAL, INTEGER (as wide as REAL), LANES and, for some, DOUBLE, AVX2 or AVX512; it ends with
   vectors_end.h, which forgets them. EXPORT then makes the functions that the caller sees. */

#include "isa.h"

/* ---- float32, any machine: GCC and clang lower the vectors to what there is ---- */
#define NAME(x) JOIN(x, _portable)
#define TARGET
#define REAL float
#define INTEGER int32_t
#define LANES 4
#include "body.h"

/* ---- float64, any machine ---- */
#define NAME(x) JOIN(x, _wide)
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

#define BEST(body, args, first, last, isa)                      \
    (isa == ISA_AVX512 ? body##_avx512(args, first, last)       \
     : isa == ISA_AVX2 ? body##_avx2(args, first, last)         \
                       : body##_portable(args, first, last))
#else
#define BEST(body, args, first, last, isa) ((void)isa, body##_portable(args, first, last))
#endif

/* name_float and name_double run a function of body.h on a range; float64 has one path, and takes the same arguments. */
#define EXPORT(name, body, args_type)                                                   \
    int name##_float(const args_type *args, int64_t first, int64_t last, int isa)       \
    {                                                                                   \
        return BEST(body, args, first, last, isa);                                      \
    }                                                                                   \
    int name##_double(const args_type *args, int64_t first, int64_t last, int isa)      \
    {                                                                                   \
        (void)isa;                                                                      \
        return body##_wide(args, first, last);                                          \
    }
