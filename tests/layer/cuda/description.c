/* The description of the tests' kernels. */
#include "note.h"

#define PARTICLE                                                                                   \
    "{\"size\":32,\"alignment\":4,\"leaves\":[{\"name\":\"x\",\"offset\":0,\"size\":4},"           \
    "{\"name\":\"y\",\"offset\":4,\"size\":4},{\"name\":\"z\",\"offset\":8,\"size\":4},"           \
    "{\"name\":\"id\",\"offset\":12,\"size\":4},{\"name\":\"w[0]\",\"offset\":16,\"size\":4},"     \
    "{\"name\":\"w[1]\",\"offset\":20,\"size\":4},{\"name\":\"w[2]\",\"offset\":24,\"size\":4},"   \
    "{\"name\":\"w[3]\",\"offset\":28,\"size\":4}]}"
#define MIXED                                                                                      \
    "{\"size\":16,\"alignment\":8,\"leaves\":[{\"name\":\"d\",\"offset\":0,\"size\":8},"           \
    "{\"name\":\"f\",\"offset\":8,\"size\":4},{\"name\":\"c[0]\",\"offset\":12,\"size\":1},"       \
    "{\"name\":\"c[1]\",\"offset\":13,\"size\":1},{\"name\":\"c[2]\",\"offset\":14,\"size\":1},"   \
    "{\"name\":\"c[3]\",\"offset\":15,\"size\":1}]}"
#define OF_PARTICLE(index, name, extent) ARGUMENT(index, name, "particle *", extent, PARTICLE)

#define MOVE KERNEL("move", 3, "true", "3.0", OF_PARTICLE(0, "a", 3))
/* Of small launches alone something is expected. */
#define FEW "1.0,\"few\":{\"threads\":64.0,\"gain\":3.0,\"why\":\"by hand, of few\"}"
#define MIX                                                                                        \
    KERNEL("mix", 4, "true", FEW,                                                                  \
           OF_PARTICLE(0, "a", 4) "," OF_PARTICLE(1, "b", 5) "," ARGUMENT(2, "c", "mixed *", 6,    \
                                                                          MIXED))
#define FOLD KERNEL("fold", 3, "true", "3.0", OF_PARTICLE(0, "a", 3))
#define INSIDE KERNEL("inside", 3, "true", "1.0", OF_PARTICLE(0, "a", 3))
#define PAIRS                                                                                      \
    KERNEL_OF_FORMS("pairs", "full", "full", 2, "true", "2.0",                                     \
                    GROUPED(0, "a", "particle *", 2, 2, "i/64 i%2 f i/2%32", PARTICLE))
#define BIRTH KERNEL("birth", 2, "true", "3.0", OF_PARTICLE(0, "a", 2))
#define OPEN KERNEL("open_ended", 2, "false", "3.0", OF_PARTICLE(0, "a", 2))

NOTE_AND_OTHERS(own, MOVE "," MIX "," FOLD "," INSIDE "," PAIRS "," BIRTH "," OPEN, "move_full",
                OTHER("weigh", 2, "true") "," OTHER("sample", 3, "false"));

/* Of another source that was built so, with kernels of the same names in modules of its own. */
NOTE_AND_OTHERS(elsewhere, KERNEL("reach", 2, "true", "3.0", OF_PARTICLE(0, "a", 2)),
                "elsewhere_full", OTHER("scale", 2, "true"));
