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

void machine_test_copies(const test_machine *machine, uint64_t seed, size_t count, bool reduced)
{
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
