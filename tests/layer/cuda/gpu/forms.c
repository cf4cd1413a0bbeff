/* The description of the kernels in program.cu. */
#include "../note.h"

#define MEMBER(name, offset) "{\"name\":\"" name "\",\"offset\":" #offset ",\"size\":4}"
/* clang-format off */
#define BODY \
    "{\"size\":64,\"alignment\":4,\"leaves\":[" \
    MEMBER("x", 0) "," MEMBER("y", 4) "," MEMBER("z", 8) "," MEMBER("u", 12) "," \
    MEMBER("v", 16) "," MEMBER("w", 20) "," MEMBER("mass", 24) "," MEMBER("charge", 28) "," \
    MEMBER("more[0]", 32) "," MEMBER("more[1]", 36) "," MEMBER("more[2]", 40) "," MEMBER("more[3]", 44) "," \
    MEMBER("more[4]", 48) "," MEMBER("more[5]", 52) "," MEMBER("more[6]", 56) "," MEMBER("more[7]", 60) "]}"
/* clang-format on */

NOTE(KERNEL("move", 3, "true", "2.5", ARGUMENT(0, "b", "body *", 3, BODY)) "," KERNEL(
    "weigh", 3, "true", "2.5", ARGUMENT(0, "b", "const body *", 3, BODY)));
