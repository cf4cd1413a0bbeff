/* See axes.h. */
#include "transpose/axes.h"

size_t rs_axis_order_bytes(const rs_axis_order *arrangement, size_t outer)
{
    size_t bytes = outer * arrangement->unit;
    for (size_t name = 0; name < arrangement->count; name++)
        bytes *= arrangement->sizes[name];
    return bytes;
}
