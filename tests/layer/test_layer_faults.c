/* The layer on a device without memory, or that refuses or loses commands. */
#include "runs.h"

#include <string.h>

enum { SMALL = 1000, LARGE = 40009, MOST_NOTES = 258 };

/* A device without memory for what the layer wants, or that refuses its commands: arrays that the
 * marshaling kernel converts, that are copied out and back, and that plans convert. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int records;
        const char *name;
        long transformed;
        bool loses;
    } cases[] = {
        {"asta", LARGE, "no-memory-there", 4, false},
        {"soa", SMALL, "no-memory-there", 2, false},
        {"soa", LARGE, "no-memory-there", 2, false},
        {"soa", LARGE, "no-memory-for-plans", 0, false},
        {"asta", LARGE, "no-memory-back", 2, false},
        {"soa", SMALL, "no-memory-back", 2, false},
        {"soa", LARGE, "no-memory-back", 2, false},
        {"soa", LARGE, "no-memory-elsewhere", 1, false},
        {"asta", LARGE, "refused-there", 2, false},
        {"soa", SMALL, "refused-there", 2, false},
        {"soa", LARGE, "refused-there", 2, false},
        {"asta", LARGE, "refused-argument", 2, false},
        {"asta", LARGE, "refused-back", 2, false},
        {"soa", SMALL, "refused-back", 2, false},
        {"soa", LARGE, "refused-back", 2, false},
        {"soa", LARGE, "torn-there", 2, true},
        {"soa", LARGE, "torn-back", 2, true},
        {"soa", LARGE, "torn-among-notes", 1, true},
        {"asta", LARGE, "fails-there", 3, true},
        {"soa", SMALL, "fails-there", 3, true},
        {"soa", LARGE, "fails-there", 3, true},
        {"asta", LARGE, "fails-back", 2, true},
        {"soa", SMALL, "fails-back", 2, true},
        {"soa", LARGE, "fails-back", 2, true},
        {"asta", LARGE, "copied", 3, false},
        {"soa", SMALL, "copied", 3, false},
        {"soa", LARGE, "copied", 3, false},
        {"soa", LARGE, "many", 12, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = run("env OPENCL_LAYERS=%s POCL_DEVICES='pthread pthread' "
                         "%s run --policy %s --report %s -- %s " LIMITED " %s %s %d",
                         MADE_UP_GPU, RESTRIDE_PROGRAM, cases[i].policy, report_path,
                         strcmp(cases[i].policy, "asta") == 0 ? UNTIMED : "", FAULTS_PROGRAM,
                         cases[i].name, cases[i].records);
        if (exit_status(status) != 0)
            fail_msg("%s, %s, %d: status %d: %s", cases[i].name, cases[i].policy, cases[i].records,
                     exit_status(status), errors());
        if (transformed_launches() != cases[i].transformed)
            fail_msg("%s, %s, %d: %ld launches in the other layout", cases[i].name, cases[i].policy,
                     cases[i].records, transformed_launches());
        const char *told = strstr(errors(), "content is lost");
        if ((told != NULL) != cases[i].loses)
            fail_msg("%s, %s, %d: %s", cases[i].name, cases[i].policy, cases[i].records, errors());
        assert_true(told == NULL || strstr(told + 1, "content is lost") == NULL);
        json_t *loaded = report();
        assert_in_range(json_array_size(json_object_get(loaded, "notes")), 0, MOST_NOTES);
        json_decref(loaded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
