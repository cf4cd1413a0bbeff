#include "behaviours.h"
#include "cmocka_all.h"

#include <string.h>

void run_behaviour(const behaviour *b, const char *kernel, cl_program original,
                   cl_program rewritten, const json_t *reply, size_t n)
{
    static const char *const names[BUFFER_LIMIT] = {"a", "b", "c", "d"};
    device_case test = {b->title, kernel, 0, {NULL}, {0}};
    for (int at = 0; at < BUFFER_LIMIT && b->sizes[at] > 0; at++) {
        test.names[at] = names[at];
        test.element_size[at] = b->sizes[at];
        test.buffer_count++;
        const json_t *argument = find_argument(reply, kernel, names[at]);
        const char *status = b->expected[at] == 't' ? "transformed" : "kept";
        if (strcmp(string_of(argument, "status"), status) != 0)
            fail_msg("%s: argument %s is not %s: %s%s", b->title, names[at], status,
                     string_of(argument, "reason"), string_of(reply, "reason"));
    }
    device_compare(&test, original, rewritten, reply, n, (unsigned)n);
}

void run_alone(const behaviour *b, const char *options, int tile)
{
    cl_program original = device_build(b->text, options);
    json_t *reply = ask_for_tiles(b->text, options, tile);
    if (json_object_get(reply, "source") == NULL)
        fail_msg("%s: nothing was transformed: %s", b->title, string_of(reply, "reason"));
    cl_program rewritten = device_build(string_of(reply, "source"), options);
    run_behaviour(b, "f", original, rewritten, reply, 100);
    run_behaviour(b, "f", original, rewritten, reply, 37);
    clReleaseProgram(original);
    clReleaseProgram(rewritten);
    json_decref(reply);
}
