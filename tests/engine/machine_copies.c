/* Conversions from one buffer to another on a device; see machine.h. */
#include "../copy_cases.h"
#include "../transpose/reference.h"
#include "cmocka_all.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

static void check(const test_machine *machine, const copy_case *c, uint64_t seed)
{
    const copy_arrays a = copy_case_sizes(c);
    restride_plan *plan = copy_case_plan(c, machine->engine);
    guarded_buffer before = guarded_create(a.from_bytes, 0, seed);
    unsigned char *source = malloc(a.from_bytes);
    unsigned char *target = calloc(1, a.to_bytes);
    assert_true(source != NULL && target != NULL);
    void *from = machine->create(before.bytes, a.from_bytes);
    void *to = machine->create(target, a.to_bytes);
    if (restride_execute_copy(plan, from, to) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    if (!machine->read(to, target, a.to_bytes) || !machine->read(from, source, a.from_bytes))
        copy_case_fail(c, "a canary changed");
    if (memcmp(source, before.bytes, a.from_bytes) != 0)
        copy_case_fail(c, "the source changed");
    if (!copy_case_holds(c, source, target))
        copy_case_fail(c, "wrong elements");
    machine->destroy(to);
    machine->destroy(from);
    free(target);
    free(source);
    guarded_free(&before);
    restride_plan_destroy(plan);
}

/* The number that follows `"name":` in a description. */
static size_t described(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtoul(at + strlen(name), NULL, 10);
}

/* Groups are small unless too few boxes fit (engine/device/copies.c). */
static void check_threads(const test_machine *machine)
{
    static const struct {
        copy_case problem;
        size_t threads;
    } cases[] = {
        {{"y:1800 x:1801", "y x", "x y", 4, ""}, 128},
        {{"a:30 b:40 c:20 d:50 e:33", "a b c d e", "e b d a c", 4, ""}, 128},
        {{"i:5003 f:18", "i f", "f i", 8, ""}, 128},
        {{"a:51 b:60 c:70", "a b c", "b a c", 4, ""}, 128},
        {{"a:96 b:80 c:70 d:60", "a b c d", "d c b a", 4, ""}, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_plan *plan = copy_case_plan(&cases[i].problem, machine->engine);
        char *text = restride_plan_describe(plan);
        assert_non_null(text);
        if (described(text, "\"threads\":") != cases[i].threads)
            copy_case_fail(&cases[i].problem, text);
        free(text);
        restride_plan_destroy(plan);
    }
}

void machine_test_copies(const test_machine *machine, uint64_t seed, size_t count, bool reduced)
{
    if (!reduced)
        check_threads(machine);
    for (size_t i = 0; i < copy_case_count && !reduced; i++)
        check(machine, &copy_cases[i], seed + i);
    for (size_t i = 0; i < count; i++) {
        copy_case c;
        copy_case_random(&c, &seed);
        check(machine, &c, seed);
        copy_case_random_tensor(&c, &seed, reduced ? 3000 : 60000);
        check(machine, &c, seed);
    }
}
