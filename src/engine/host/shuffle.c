/* The numbers of C2R and R2C; see shuffle.h. */
#include "engine/host/shuffle.h"
#include "base/arithmetic.h"

rs_host_shuffle rs_host_shuffle_make(size_t rows, size_t cols)
{
    size_t common = rs_size_gcd(rows, cols);
    return (rs_host_shuffle){rows, cols, rows / common, cols / common};
}
