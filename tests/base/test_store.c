/* The store on disk: what was written is read, and nothing that is torn or that others could have
 * written. */
#include "base/store.h"

#include "cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 600 };
static char root[] = "/tmp/restride-store-XXXXXX";
static char folder[PATH_SIZE];

static void write_entry(const char *key, const char *content)
{
    rs_store_write("test", key, strlen(key), content, strlen(content));
}

static bool holds(const char *key, const char *content)
{
    rs_text text = RS_TEXT_EMPTY;
    bool found = rs_store_read("test", key, strlen(key), &text) && text.size == strlen(content) &&
                 memcmp(text.data, content, text.size) == 0;
    rs_text_free(&text);
    return found;
}

/* The path of the only file in the folder. */
static void only_file(char path[PATH_SIZE])
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    assert_non_null(list);
    while ((entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.') {
            snprintf(path, PATH_SIZE, "%.300s/%.250s", folder, entry->d_name);
            count++;
        }
    closedir(list);
    assert_int_equal(count, 1);
}

static int clear(void **state)
{
    (void)state;
    char command[PATH_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf '%s/restride'", root);
    return system(command);
}

/* An installed folder belongs to somebody else, who let others read it. */
static void test_installed(void **state)
{
    (void)state;
    static const char other[] = "/tmp";
    rs_text text = RS_TEXT_EMPTY;
    char path[PATH_SIZE];
    write_entry("key", "content");
    only_file(path);
    assert_int_equal(chmod(path, 0664), 0);
    assert_false(holds("key", "content"));
    assert_true(rs_store_read_installed(folder, "key", strlen("key"), &text));
    assert_int_equal(text.size, strlen("content"));
    assert_memory_equal(text.data, "content", text.size);
    rs_text_free(&text);
    assert_false(rs_store_read_installed(folder, "ke", strlen("ke"), &text));
    assert_false(rs_store_read_installed(other, "key", strlen("key"), &text));
    assert_false(rs_store_read_installed("/nowhere", "key", strlen("key"), &text));
}

static void test_round_trip(void **state)
{
    (void)state;
    assert_false(holds("key", "content"));
    write_entry("key", "content");
    assert_true(holds("key", "content"));
    assert_false(holds("kez", "content"));
    write_entry("key", "other");
    assert_true(holds("key", "other"));
    write_entry("empty", "");
    assert_true(holds("empty", ""));
}

static void test_torn(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    write_entry("key", "a content that is long enough to be cut");
    only_file(path);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    for (off_t size = about.st_size - 1; size >= 0; size -= 7) {
        assert_int_equal(truncate(path, size), 0);
        assert_false(holds("key", "a content that is long enough to be cut"));
    }
}

static void test_damaged(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    write_entry("key", "content");
    only_file(path);
    int file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "X", 1, 84), 1);
    close(file);
    assert_false(holds("key", "content"));
    assert_false(holds("key", "cXntent"));
}

/* A whole, good entry, but in a place or with rights that let others write it. */
static void test_hostile(void **state)
{
    (void)state;
    char path[PATH_SIZE], moved[PATH_SIZE];
    write_entry("key", "content");
    only_file(path);
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(holds("key", "content"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(holds("key", "content"));
    assert_int_equal(chmod(folder, 0777), 0);
    assert_false(holds("key", "content"));
    write_entry("second", "content"); /* nor is it written to */
    assert_int_equal(chmod(folder, 0700), 0);
    assert_false(holds("second", "content"));
    snprintf(moved, sizeof moved, "%s/elsewhere", root);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
    assert_false(holds("key", "content"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* and nothing waits for a pipe */
    assert_false(holds("key", "content"));
    assert_int_equal(unlink(path), 0);
    if (geteuid() == 0) {
        assert_int_equal(rename(moved, path), 0);
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_false(holds("key", "content"));
        assert_int_equal(chown(path, 0, 0), 0);
        assert_true(holds("key", "content"));
        assert_int_equal(chown(folder, 12345, 12345), 0);
        assert_false(holds("key", "content"));
    }
}

/* Many processes write the same entry; whoever reads finds one of theirs, whole. */
static void test_processes(void **state)
{
    (void)state;
    enum { PROCESSES = 6, ROUNDS = 60, SIZE = 20000 };
    pid_t children[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        if (children[p] != 0)
            continue;
        char content[SIZE + 1] = "";
        memset(content, 'a' + p, SIZE);
        int wrong = 0;
        for (int r = 0; r < ROUNDS; r++) {
            write_entry("shared", content);
            rs_text text = RS_TEXT_EMPTY;
            bool found = rs_store_read("test", "shared", strlen("shared"), &text);
            wrong += !found || text.size != SIZE || text.data[0] != text.data[SIZE - 1];
            rs_text_free(&text);
        }
        _exit(wrong);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    char path[PATH_SIZE];
    only_file(path); /* no temporary file is left */
}

static int count_files(void)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    assert_non_null(list);
    while ((entry = readdir(list)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* A file's clock may stand still for some milliseconds. */
static void wait_for_clock(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* What was longest neither written nor read goes first, and the latest stays whatever its size. */
static void test_trim(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        write_entry(keys[i], "content");
        wait_for_clock();
    }
    assert_true(holds("a", "content"));
    rs_store_trim("test", 4, 1 << 20);
    assert_int_equal(count_files(), 4);
    rs_store_trim("test", 3, 1 << 20);
    assert_false(holds("b", "content"));
    assert_int_equal(count_files(), 3);
    wait_for_clock();
    assert_true(holds("d", "content"));
    rs_store_trim("test", 100, 1);
    assert_int_equal(count_files(), 1);
    assert_true(holds("d", "content"));
    rs_store_trim("missing", 1, 1);
}

/* Files that a killed process has left go with time; others are being written. */
static void test_trim_temporaries(void **state)
{
    (void)state;
    const char *const names[] = {"1-0x1-0.tmp", "2-0x2-0.tmp"};
    write_entry("key", "content");
    for (int i = 0; i < 2; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%.300s/%s", folder, names[i]);
        int file = open(path, O_WRONLY | O_CREAT, 0600);
        assert_true(file >= 0);
        const struct timespec times[] = {{1, 0}, {1, 0}};
        if (i == 0)
            assert_int_equal(futimens(file, times), 0);
        close(file);
    }
    rs_store_trim("test", 1, 1);
    assert_int_equal(count_files(), 2);
    assert_true(holds("key", "content"));
}

/* Whoever writes keeps the kind within its bounds, many processes at once too. */
static void test_bounds(void **state)
{
    (void)state;
    enum { PROCESSES = 4, EACH = 300, MOST = 1024 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            int wrong = 0;
            for (int i = 0; i < EACH; i++) {
                char key[32];
                snprintf(key, sizeof key, "%d of %d", i, p);
                write_entry(key, key);
                wrong += !holds(key, key);
            }
            _exit(wrong != 0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    write_entry("last", "content");
    assert_int_equal(count_files(), MOST);
    assert_true(holds("last", "content"));
    assert_true(holds("299 of 0", "299 of 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, clear),
        cmocka_unit_test_setup(test_installed, clear),
        cmocka_unit_test_setup(test_torn, clear),
        cmocka_unit_test_setup(test_damaged, clear),
        cmocka_unit_test_setup(test_hostile, clear),
        cmocka_unit_test_setup(test_processes, clear),
        cmocka_unit_test_setup(test_trim, clear),
        cmocka_unit_test_setup(test_trim_temporaries, clear),
        cmocka_unit_test_setup(test_bounds, clear),
    };
    umask(022);
    if (mkdtemp(root) == NULL || setenv("XDG_CACHE_HOME", root, 1) != 0)
        return 1;
    snprintf(folder, sizeof folder, "%s/restride/test", root);
    int failures = cmocka_run_group_tests_name("store", tests, NULL, NULL);
    clear(NULL);
    char command[PATH_SIZE];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? failures : 1;
}
