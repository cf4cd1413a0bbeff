/*
 * Changes with a journal that are killed, lose power and meet calls that fail, in any order, over
 * several resumes: the same command brings each to its end, nothing is lost, and in between a file
 * that is half done says so. Arguments are the number of sequences, and that of the first one.
 */
#include "changes.h"
#include "cmocka_all.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process forks slowly under sanitizers. */
#ifdef __SANITIZE_ADDRESS__
static size_t sequence_count = 50;
#else
static size_t sequence_count = 200;
#endif

static size_t first_sequence;

enum { MOST_ROUNDS = 200 };

static struct {
    size_t kills;
    size_t cuts;
    size_t failures;
    size_t cuts_when_done;
} seen;

/* Whether the file is as make_file() left it. */
static bool is_untouched(const test_change *c, const unsigned char *before)
{
    unsigned char *now = read_file(file_path, HEADER + c->bytes);
    bool same = memcmp(now, before, HEADER + c->bytes) == 0;
    free(now);
    return same;
}

/* A file that is neither what it was nor what it will be must have its mark. */
static void check_between(const test_change *c, const unsigned char *before, uint64_t seed)
{
    if (is_untouched(c, before) || is_changed(c))
        return;
    rs_journaled_state state = state_of_file(NULL);
    if (state != RS_JOURNALED_HALF_DONE)
        fail_msg("%s: half done, and told as %d, sequence %llu", c->name, (int)state,
                 (unsigned long long)seed);
}

static const char *reason_to_refuse(const test_change *c)
{
    rs_journaled_found found;
    disk = (test_disk){.calls_left = DISK_NEVER};
    return run_journaled(c, "test", NULL, &found) == RESTRIDE_OK ? "it does"
                                                                 : restride_last_error();
}

/* Longer and longer runs, so that each comes to an end. */
static void run_sequence(const test_change *c, uint64_t seed)
{
    make_file(c);
    disk = (test_disk){.calls_left = DISK_NEVER};
    disk_seed = seed;
    disk.no_attributes = disk_random(4) == 0;
    unsigned char *before = read_file(file_path, HEADER + c->bytes);
    bool done = false;
    for (size_t round = 0; !done; round++) {
        const disk_action actions[] = {DISK_DIES,  DISK_DIES, DISK_DIES,
                                       DISK_FAILS, DISK_FULL, DISK_SHORT};
        disk_action action = actions[disk_random(sizeof actions / sizeof actions[0])];
        int call = (int)disk_random(8 + round * round);
        bool failed;
        done = run_and_die(c, call, action, seed * 1000 + round, &failed);
        seen.kills += !done && !failed;
        seen.failures += failed;
        if (disk_random(2) == 0) {
            disk_lose_power();
            seen.cuts++;
            seen.cuts_when_done += done;
        }
        check_between(c, before, seed);
        if (round > MOST_ROUNDS)
            fail_msg("%s: sequence %llu comes to no end: %s", c->name, (unsigned long long)seed,
                     reason_to_refuse(c));
    }
    free(before);
    check_file(c, (int)seed);
    rs_journaled_found found;
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
    assert_int_equal(found, RS_JOURNALED_ALREADY);
    check_file(c, (int)seed);
}

static void test_sequences(void **state)
{
    (void)state;
    for (size_t i = first_sequence; i < first_sequence + sequence_count; i++)
        run_sequence(&changes[i % CHANGE_COUNT], i + 1);
    print_message("%zu sequences: %zu kills, %zu losses of power (%zu of them behind the end), %zu "
                  "failures; 0 lost\n",
                  sequence_count, seen.kills, seen.cuts, seen.cuts_when_done, seen.failures);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        sequence_count = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        first_sequence = strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
