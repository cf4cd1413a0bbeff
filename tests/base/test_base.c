/* Checked arithmetic at its edges, growing text, and the thread's own sentence. */
#include "base/arithmetic.h"
#include "base/child.h"
#include "base/list.h"
#include "base/map.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "restride/version.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_sizes_at_the_edge(void **state)
{
    (void)state;
    size_t result = 7;
    assert_true(rs_size_add(SIZE_MAX - 1, 1, &result));
    assert_int_equal(result, SIZE_MAX);
    assert_false(rs_size_add(SIZE_MAX, 1, &result));
    assert_true(rs_size_multiply(SIZE_MAX / 3, 3, &result));
    assert_false(rs_size_multiply(SIZE_MAX / 3 + 1, 3, &result));
    assert_true(rs_size_multiply(0, SIZE_MAX, &result));
    assert_int_equal(result, 0);
    assert_true(rs_size_round_up(65, 32, &result));
    assert_int_equal(result, 96);
    assert_false(rs_size_round_up(SIZE_MAX, 32, &result));
    assert_int_equal(result, 96);
    assert_int_equal(rs_size_divide_up(65, 32), 3);
    assert_int_equal(rs_size_divide_up(64, 32), 2);
    assert_int_equal(rs_size_divide_up(0, 32), 0);
    assert_int_equal(rs_size_divide_up(SIZE_MAX, 2), SIZE_MAX / 2 + 1);
    assert_int_equal(rs_size_smaller(3, SIZE_MAX), 3);
    assert_int_equal(rs_size_larger(3, SIZE_MAX), SIZE_MAX);
    assert_int_equal(rs_size_gcd(84, 36), 12);
    assert_int_equal(rs_size_gcd(0, 5), 5);
}

static void test_text_grows(void **state)
{
    (void)state;
    rs_text text = RS_TEXT_EMPTY;
    for (int i = 0; i < 10000; i++)
        rs_text_format(&text, "%d,", i % 10);
    assert_int_equal(text.size, 20000);
    char *taken = rs_text_take(&text);
    assert_int_equal(strlen(taken), 20000);
    assert_null(text.data);
    free(taken);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    rs_fail(RESTRIDE_IO, "other thread");
    return NULL;
}

static void test_each_thread_has_its_own_sentence(void **state)
{
    (void)state;
    assert_int_equal(rs_fail(RESTRIDE_SYNTAX, "character %d", 3), RESTRIDE_SYNTAX);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(restride_last_error(), "character 3");
}

static void test_reading_a_missing_file_says_which(void **state)
{
    (void)state;
    rs_text text = RS_TEXT_EMPTY;
    assert_int_equal(rs_text_read_file(&text, "/nonexistent/file"), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "/nonexistent/file"));
    rs_text_free(&text);
}

/* Against a plain array as the definition, with keys that collide and many removals. */
static void test_map_against_an_array(void **state)
{
    (void)state;
    enum { KEYS = 300, STEPS = 20000 };
    static char storage[KEYS];
    void *expected[KEYS] = {NULL};
    rs_map map = RS_MAP_EMPTY;
    uint32_t random = 12345;
    size_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525u + 1013904223u;
        size_t key = (random >> 8) % KEYS;
        if (random >> 31) {
            void *value = &storage[(random >> 4) % KEYS];
            count += expected[key] == NULL;
            expected[key] = value;
            assert_true(rs_map_set(&map, &storage[key], value));
        } else {
            assert_ptr_equal(rs_map_remove(&map, &storage[key]), expected[key]);
            count -= expected[key] != NULL;
            expected[key] = NULL;
        }
        assert_int_equal(map.count, count);
    }
    for (size_t key = 0; key < KEYS; key++)
        assert_ptr_equal(rs_map_get(&map, &storage[key]), expected[key]);
    size_t walked = 0;
    for (size_t position = 0; rs_map_next(&map, &position) != NULL;)
        walked++;
    assert_int_equal(walked, count);
    rs_map_free(&map);
}

static void test_a_pipe_is_written_to_and_stays(void **state)
{
    (void)state;
    char folder[] = "/tmp/restride-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDWR | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(rs_text_write_file(path, "hello", 5), RESTRIDE_OK);
    struct stat found;
    assert_int_equal(lstat(path, &found), 0);
    assert_true(S_ISFIFO(found.st_mode));
    char text[8] = "";
    assert_int_equal(read(reader, text, sizeof text), 5);
    assert_string_equal(text, "hello");
    close(reader);
    unlink(path);
    rmdir(folder);
}

/* A locale with a decimal comma, made with the system's tools; false where there are none. */
static bool use_a_comma(const char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    setenv("LOCPATH", folder, 1);
    return system(command) == 0 && setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

static void test_decimals_have_a_point(void **state)
{
    (void)state;
    assert_string_equal(rs_decimal(1.26, 1).text, "1.3");
    assert_string_equal(rs_decimal(-0.5, 3).text, "-0.500");
    assert_string_equal(rs_decimal(7, 0).text, "7");
    char folder[] = "/tmp/restride-base-XXXXXX";
    char command[sizeof folder + 8];
    assert_non_null(mkdtemp(folder));
    const bool has_comma = use_a_comma(folder);
    if (has_comma) {
        snprintf(command, sizeof command, "%.1f", 1.5);
        assert_string_equal(command, "1,5");
        assert_string_equal(rs_decimal(1.26, 1).text, "1.3");
    }
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!has_comma)
        skip();
}

enum { WRITES = 400, LENGTHS = 2 };
static const size_t lengths[LENGTHS] = {10, 300000};

typedef struct {
    const char *path;
    size_t length;
    int failures;
} writing;

static void *write_again_and_again(void *context)
{
    writing *w = context;
    char *bytes = malloc(w->length);
    memset(bytes, 'x', w->length);
    for (int i = 0; i < WRITES; i++)
        w->failures += rs_text_write_file(w->path, bytes, w->length) != RESTRIDE_OK;
    free(bytes);
    return NULL;
}

/* Who reads sees one of the texts, whole. */
static void test_threads_write_one_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/restride-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/file", folder);
    writing writings[LENGTHS];
    pthread_t threads[LENGTHS];
    for (int i = 0; i < LENGTHS; i++) {
        writings[i] = (writing){path, lengths[i], 0};
        assert_int_equal(pthread_create(&threads[i], NULL, write_again_and_again, &writings[i]), 0);
    }
    for (int i = 0; i < WRITES; i++) {
        rs_text text = RS_TEXT_EMPTY;
        if (rs_text_read_file(&text, path) == RESTRIDE_OK)
            assert_true(text.size == lengths[0] || text.size == lengths[1]);
        rs_text_free(&text);
    }
    for (int i = 0; i < LENGTHS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(writings[i].failures, 0);
    }
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else is left */
}

/* Programs and bindings have these numbers and names written down. */
static void test_status_numbers_are_stable(void **state)
{
    (void)state;
    static const char *const names[] = {
        "RESTRIDE_OK",           "RESTRIDE_INVALID_ARGUMENT", "RESTRIDE_SYNTAX",
        "RESTRIDE_OVERFLOW",     "RESTRIDE_OUT_OF_MEMORY",    "RESTRIDE_UNSUPPORTED",
        "RESTRIDE_DEVICE_ERROR", "RESTRIDE_DEVICE_LIMIT",     "RESTRIDE_IO"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(restride_status_name((restride_status)i), names[i]);
        assert_string_not_equal(restride_status_string((restride_status)i), "unknown status");
    }
    assert_string_equal(restride_status_name((restride_status)9), "unknown status");
    assert_string_equal(restride_status_string((restride_status)-1), "unknown status");
}

static void test_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", restride_version() / 10000,
             restride_version() / 100 % 100, restride_version() % 100);
    assert_string_equal(text, restride_version_string());
    assert_string_equal(text, RESTRIDE_VERSION_STRING);
    assert_int_equal(restride_version(), RESTRIDE_VERSION);
}

static void test_bindings_set_sentences(void **state)
{
    (void)state;
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(restride_set_error(RESTRIDE_IO, "100 %s of it."), RESTRIDE_IO);
    assert_string_equal(restride_last_error(), "100 %s of it.");
    restride_set_error(RESTRIDE_IO, longer);
    assert_int_equal(strlen(restride_last_error()), 1000);
    restride_set_error(RESTRIDE_IO, NULL);
    assert_string_equal(restride_last_error(), "");
}

static restride_status say_what_is_asked(void *context, rs_text *output)
{
    const char *wanted = context;
    rs_text_add_string(output, wanted);
    if (strcmp(wanted, "crash") == 0)
        abort();
    while (strcmp(wanted, "never") == 0)
        ;
    return strcmp(wanted, "fail") == 0 ? rs_fail(RESTRIDE_IO, "x") : RESTRIDE_OK;
}

/* Work in a copy of the process has no effect but its output, and that only when it is done. */
static void test_work_in_a_copy(void **state)
{
    (void)state;
    static char large[300001];
    memset(large, 'a', sizeof large - 1);
    char *const wanted[] = {"word", large, "crash", "never", "fail"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        rs_text text = RS_TEXT_EMPTY;
        rs_text_add_string(&text, "-");
        const restride_status status = rs_child_do(say_what_is_asked, wanted[i], 1, &text);
        assert_int_equal(status, i < 2 ? RESTRIDE_OK : RESTRIDE_UNSUPPORTED);
        assert_string_equal(text.data + 1, i < 2 ? wanted[i] : "");
        rs_text_free(&text);
    }
}

/* A list and its copies of every length keep what they hold while they grow. */
static void test_lists_keep_their_elements(void **state)
{
    enum { MOST = 70, MORE = 40 };
    (void)state;
    int *list = NULL;
    for (int count = 0; count < MOST; count++) {
        int *copy;
        assert_true(rs_list_copy(&copy, list, (size_t)count, sizeof *copy));
        for (int added = count; added < count + MORE; added++) {
            assert_true(RS_LIST_GROW(copy, added));
            copy[added] = added;
        }
        for (int i = 0; i < count + MORE; i++)
            assert_int_equal(copy[i], i);
        free(copy);
        assert_true(RS_LIST_GROW(list, count));
        list[count] = count;
    }
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_numbers_are_stable),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_bindings_set_sentences),
        cmocka_unit_test(test_sizes_at_the_edge),
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_map_against_an_array),
        cmocka_unit_test(test_each_thread_has_its_own_sentence),
        cmocka_unit_test(test_reading_a_missing_file_says_which),
        cmocka_unit_test(test_a_pipe_is_written_to_and_stays),
        cmocka_unit_test(test_threads_write_one_file),
        cmocka_unit_test(test_work_in_a_copy),
        cmocka_unit_test(test_decimals_have_a_point),
        cmocka_unit_test(test_lists_keep_their_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
