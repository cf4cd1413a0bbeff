/* Names that C leaves to a program, and kernels do not. */
#include "apply/names.h"
#include "base/text.h"

#include <string.h>

/* float4, uchar16 and their like. */
static bool is_vector_type(const char *name)
{
    const char *element = name[0] == 'u' ? name + 1 : name;
    const size_t length = strcspn(element, "0123456789");
    return element[length] != '\0' &&
           rs_is_among(element, length, "char short int long half double float bool");
}

/* NAME_lanes, and NAME_1 of a copy. */
static bool is_made(const char *name)
{
    const char *end = strrchr(name, '_');
    return strncmp(name, "restride_", strlen("restride_")) == 0 ||
           (end != NULL && end > name &&
            (strcmp(end, "_lanes") == 0 || strcmp(end, "_gathered") == 0 ||
             (end[1] != '\0' && strspn(end + 1, "0123456789") == strlen(end + 1))));
}

bool rs_name_is_taken(const char *name)
{
    return is_vector_type(name) || is_made(name) ||
           rs_begins_among(name, "get_global_ get_local_ get_group_ get_num_ convert_") ||
           rs_is_among(name, strlen(name),
                       "event_t sampler_t queue_t ndrange_t clk_event_t reserve_id_t M_PI");
}

bool rs_name_is_built_in(const char *name)
{
    return is_vector_type(name) ||
           rs_begins_among(name, "as_ convert_ vload vstore read_ write_ get_ atomic atom_ native_ "
                                 "half_ fast_ async_ shuffle work_group_ sub_group_") ||
           rs_is_among(name, strlen(name),
                       "dot mix cross clamp step smoothstep sign length distance normalize "
                       "degrees radians min max abs abs_diff select rotate mad mad24 mul24 "
                       "mad_hi mul_hi mad_sat clz ctz popcount hadd rhadd add_sat sub_sat "
                       "upsample any all bitselect fract nan maxmag minmag rsqrt sincos sinpi "
                       "cospi tanpi asinpi acospi atanpi atan2pi pown powr rootn exp10 barrier "
                       "mem_fence prefetch isequal isnotequal isordered signbit "
                       "wait_group_events");
}
