/*
 * What is kept of the rewriter's answers about sources that include files: an answer is found again
 * as long as the preprocessor would read the same, and not when a file has changed, is gone, or is
 * hidden by another.
 */
#include "base/text.h"
#include "cmocka_all.h"
#include "layer/core/rewriter.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/restride-replies-XXXXXX";

static rs_rewriter rewriter, silent;

static void write_file(const char *path, const char *text)
{
    assert_int_equal(rs_text_write_file(path, text, strlen(text)), RESTRIDE_OK);
}

static json_t *ask(bool cache_only)
{
    json_t *reply = NULL;
    json_t *request = json_pack(
        "{s:s, s:s, s:s, s:i, s:b}", "source",
        "#include \"outer.h\"\nkernel void f(global P *a) { a[get_global_id(0)].x = VALUE; }\n",
        "file", "program.cl", "options", "-I first -I second/", "tile", 32, "assume_undefined", 1);
    assert_non_null(request);
    if (cache_only)
        setenv("RESTRIDE_CACHE_ONLY", "1", 1);
    else
        unsetenv("RESTRIDE_CACHE_ONLY");
    restride_status status = rs_rewriter_ask(&rewriter, request, false, &reply);
    assert_true((status == RESTRIDE_OK) == (reply != NULL));
    if (!cache_only)
        assert_int_equal(status, RESTRIDE_OK);
    json_decref(request);
    return reply;
}

static bool is_kept(void)
{
    json_t *reply = ask(true);
    bool kept = reply != NULL;
    json_decref(reply);
    return kept;
}

/* Asks the rewriter; whether its new source has the text. */
static bool answers(const char *text)
{
    json_t *reply = ask(false);
    const char *source = json_string_value(json_object_get(reply, "source"));
    bool has = source != NULL && strstr(source, text) != NULL;
    json_decref(reply);
    return has;
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("first", 0700) != 0 ||
        mkdir("second", 0700) != 0 || mkdir("second/part", 0700) != 0 || mkdir("other", 0700) != 0)
        return -1;
    rs_rewriter_init(&rewriter, REWRITER);
    rs_rewriter_init(&silent, "./silent");
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("CPATH");
    unsetenv("C_INCLUDE_PATH");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") == 0 ? system(command) : -1;
}

static void write_all(void)
{
    write_file("second/outer.h", "#include \"part/inner.h\"\ntypedef struct { float x, y; } P;\n");
    write_file("second/part/inner.h", "#define VALUE 11\n");
}

static void test_found_again(void **state)
{
    (void)state;
    assert_false(is_kept());
    assert_false(answers("= 11")); /* a header is missing, and an answer without it is not kept */
    assert_false(is_kept());
    write_all();
    assert_true(answers("= 11"));
    assert_true(is_kept());
    assert_true(answers("= 11"));
}

static void test_changed(void **state)
{
    (void)state;
    write_all();
    assert_true(answers("= 11"));
    write_file("second/part/inner.h", "#define VALUE 12\n");
    assert_false(is_kept());
    assert_true(answers("= 12"));
    assert_true(is_kept());
    assert_int_equal(unlink("second/part/inner.h"), 0);
    assert_false(is_kept());
    write_all();
}

static void test_hidden(void **state)
{
    (void)state;
    static const char *const places[] = {"outer.h", "first/outer.h", "part/inner.h",
                                         "first/part/inner.h", "second/part/part/inner.h"};
    write_all();
    assert_int_equal(mkdir("part", 0700), 0);
    assert_int_equal(mkdir("first/part", 0700), 0);
    assert_int_equal(mkdir("second/part/part", 0700), 0);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_true(answers("= 11"));
        assert_true(is_kept());
        write_file(places[i], "typedef struct { float x, y; } P;\n#define VALUE 13\n");
        assert_false(is_kept());
        assert_true(answers(i < 2 ? "= 13" : "= 11"));
        assert_int_equal(unlink(places[i]), 0);
    }
}

static void test_elsewhere(void **state)
{
    (void)state;
    write_all();
    assert_true(answers("= 11"));
    assert_int_equal(chdir("other"), 0);
    assert_false(is_kept());
    assert_int_equal(chdir(".."), 0);
    assert_true(is_kept());
}

/* ---- a rewriter that does not answer ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char *asked_source = "";

static void *ask_silent(void *data)
{
    json_t *reply = NULL, *request = json_pack("{s:s}", "source", asked_source);
    double *took = data;
    *took = seconds();
    assert_int_equal(rs_rewriter_start(&silent, request, &reply), RESTRIDE_IO);
    *took = seconds() - *took;
    assert_null(reply);
    json_decref(request);
    return NULL;
}

/* The user is told after 2 seconds, and the program goes on after 10; after two such answers no
 * third is waited for. */
static void test_silent(void **state)
{
    (void)state;
    double took[2];
    pthread_t thread;
    write_file("silent", "#!/bin/sh\nexec sleep 100 >/dev/null 2>&1\n");
    chmod("silent", 0700);
    const int before = dup(STDERR_FILENO);
    assert_non_null(freopen("told", "w", stderr));
    assert_int_equal(pthread_create(&thread, NULL, ask_silent, &took[0]), 0);
    ask_silent(&took[1]);
    const bool says_when = strstr(restride_last_error(), "within 10 s") != NULL;
    pthread_join(thread, NULL);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    for (int i = 0; i < 2; i++)
        assert_true(took[i] > 9 && took[i] < 20);
    assert_true(says_when);
    rs_text told = RS_TEXT_EMPTY;
    assert_int_equal(rs_text_read_file(&told, "told"), RESTRIDE_OK);
    assert_non_null(strstr(told.data, "restride: the rewriter has not answered for 2 s"));
    rs_text_free(&told);
    ask_silent(&took[0]);
    assert_true(took[0] < 5);
}

/* A thread asks, and the process ends meanwhile. A process of its own, for nothing is asked any
 * more then. */
static void abandon(const char *source)
{
    double took = 0;
    int status = -1;
    pthread_t thread;
    const pid_t child = fork();
    if (child == 0) {
        asked_source = source;
        bool right = pthread_create(&thread, NULL, ask_silent, &took) == 0;
        nanosleep(&(struct timespec){0, 300000000}, NULL);
        rs_rewriter_abandon(&silent);
        pthread_join(thread, NULL);
        _exit(right && took > 0.2 && took < 5 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* exit() does not wait for it. */
static void test_abandoned(void **state)
{
    (void)state;
    write_file("silent", "#!/bin/sh\nexec sleep 100 >/dev/null 2>&1\n");
    chmod("silent", 0700);
    abandon("");
}

/* One that was only just started is still asked, for the next run: more than a socket holds waits
 * until it reads. */
static void test_abandoned_is_asked(void **state)
{
    (void)state;
    enum { LETTERS = 4 << 20 };
    char *source = calloc(LETTERS + 1, 1);
    assert_non_null(source);
    memset(source, 'a', LETTERS);
    write_file("silent", "#!/bin/sh\nsleep 1\ncat >request\n");
    chmod("silent", 0700);
    abandon(source);
    json_t *request = NULL;
    for (int tenths = 0; tenths < 200 && request == NULL; tenths++) {
        request = json_load_file("request", 0, NULL);
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    assert_string_equal(json_string_value(json_object_get(request, "source")), source);
    json_decref(request);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_hidden),      cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_abandoned),   cmocka_unit_test(test_abandoned_is_asked),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
