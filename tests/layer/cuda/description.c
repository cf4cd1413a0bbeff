/* The description of the tests' kernels, as `restride nvcc` puts one into an object. */
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
#define ARGUMENT(index, name, type, extent, record)                                                \
    "{\"index\":" #index ",\"name\":\"" name "\",\"type\":\"" type "\",\"status\":\"transformed\"" \
    ",\"layout\":\"i/32 f i%32\",\"tile\":32,\"extent\":" #extent ",\"record\":" record "}"
#define KERNEL(name, parameters, closed, arguments)                                                \
    "{\"symbol\":\"" name "\",\"name\":\"" name "\",\"parameters\":" #parameters                   \
    ",\"closed\":" closed ",\"second\":{\"full\":\"" name "_full\",\"ragged\":\"" name             \
    "_ragged\",\"full_large\":\"" name "_full_large\",\"ragged_large\":\"" name                    \
    "_ragged_large\"},\"arguments\":[" arguments "],\"gain\":3.0,\"why\":\"made up\"}"
#define TEXT                                                                                                            \
    "{\"version\":1,\"kernels\":[" KERNEL("move", 3, "true", ARGUMENT(0, "a", "particle *", 3, PARTICLE)) "," KERNEL(   \
        "mix", 4, "true",                                                                                               \
        ARGUMENT(0, "a", "const particle *", 4, PARTICLE) "," ARGUMENT(1, "b", "particle *", 5, PARTICLE) "," ARGUMENT( \
            2, "c", "mixed *", 6,                                                                                       \
            MIXED)) "," KERNEL("fold", 3, "true",                                                                       \
                               ARGUMENT(                                                                                \
                                   0, "a", "const particle *", 3,                                                       \
                                   PARTICLE)) "," KERNEL("inside", 3, "true",                                           \
                                                         ARGUMENT(                                                      \
                                                             0, "a", "particle *", 3,                                   \
                                                             PARTICLE)) "," KERNEL("open_ended",                        \
                                                                                   2, "false",                          \
                                                                                   ARGUMENT(                            \
                                                                                       0, "a",                          \
                                                                                       "particle "                      \
                                                                                       "*",                             \
                                                                                       2,                               \
                                                                                       PARTICLE)) "]}"

/* A section of notes: the rest of the compiler's own line is a comment of the assembler. */
#ifdef __x86_64__
#define NOTES "restride_forms,\"a\",@note#"
#else
#define NOTES "restride_forms,\"a\",%note//"
#endif
__attribute__((section(NOTES), used, aligned(4))) static const struct {
    unsigned name_bytes, text_bytes, type;
    char name[(sizeof "Restride" + 3) / 4 * 4];
    char text[(sizeof TEXT + 2) / 4 * 4];
} note = {sizeof "Restride", sizeof TEXT - 1, 1, "Restride", TEXT};
