/* Which device a user's word means. */
#include "cmocka_all.h"

#include "engine/open.h"

static void fits_as_documented(void **state)
{
    (void)state;
    static const struct {
        const char *wanted;
        size_t number;
        bool is_gpu;
        const char *name;
        int fitness;
    } cases[] = {
        {NULL, 3, true, "NVIDIA H100", 2},
        {NULL, 0, false, "pthread", 1},
        {"gpu", 0, true, "NVIDIA H100", 1},
        {"gpu", 0, false, "gpu in its name alone", 0},
        {"cpu", 0, false, "pthread", 1},
        {"cpu", 0, true, "cpu in its name alone", 0},
        {"3", 3, false, "pthread", 1},
        {"3", 2, false, "device 3", 0},
        {"h100", 0, true, "NVIDIA H100", 1},
        {"NVIDIA H100 ", 0, true, "NVIDIA H100", 0},
        {"3090 Ti", 0, true, "NVIDIA GeForce RTX 3090 Ti", 1},
        {"", 5, false, "pthread", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (rs_device_fitness(cases[i].wanted, cases[i].number, cases[i].is_gpu, cases[i].name) !=
            cases[i].fitness)
            fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits_as_documented)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
