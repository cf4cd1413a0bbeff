/* See thunks.h. What is read beyond a function's own arguments is handed on and ignored; it must
 * not be written back, which a call in place of a return would do. */
#include "layer/cuda/thunks.h"

#include <string.h>

typedef uintptr_t word;
#define WORDS                                                                                      \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,        \
        word l, word m, word n, word o, word p

#define THUNK(number)                                                                              \
    static word thunk_##number(WORDS)                                                              \
    {                                                                                              \
        word words[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};                           \
        return rs_thunk_call(0x##number, words);                                                   \
    }
/* clang-format off */
#define SIXTEEN(M, x)                                                                              \
    M(x##0) M(x##1) M(x##2) M(x##3) M(x##4) M(x##5) M(x##6) M(x##7)                                \
    M(x##8) M(x##9) M(x##a) M(x##b) M(x##c) M(x##d) M(x##e) M(x##f)
#define PAGE(M, x)                                                                                 \
    SIXTEEN(M, x##0) SIXTEEN(M, x##1) SIXTEEN(M, x##2) SIXTEEN(M, x##3)                            \
    SIXTEEN(M, x##4) SIXTEEN(M, x##5) SIXTEEN(M, x##6) SIXTEEN(M, x##7)                            \
    SIXTEEN(M, x##8) SIXTEEN(M, x##9) SIXTEEN(M, x##a) SIXTEEN(M, x##b)                            \
    SIXTEEN(M, x##c) SIXTEEN(M, x##d) SIXTEEN(M, x##e) SIXTEEN(M, x##f)
#define ALL(M) PAGE(M, 0) PAGE(M, 1) PAGE(M, 2) PAGE(M, 3)
ALL(THUNK)
/* clang-format on */

#define NAME(number) thunk_##number,
static word (*const thunks[RS_THUNKS])(WORDS) = {ALL(NAME)};

void *rs_thunk(int number)
{
    void *function;
    memcpy(&function, &thunks[number], sizeof function);
    return function;
}
