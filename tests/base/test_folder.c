/* Temporary folders: one's own, and gone with all that is in them. */
#include "cmocka_all.h"

#include "base/folder.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *in(const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, name);
    assert_false(path.failed);
    return rs_text_take(&path);
}

static void write_in(const char *folder, const char *name)
{
    char *path = in(folder, name);
    assert_int_equal(rs_text_write_file(path, "x", 1), RESTRIDE_OK);
    free(path);
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static void test_it_goes_with_what_is_in_it(void **state)
{
    (void)state;
    char *outside, *folder;
    assert_int_equal(rs_folder_create(&outside), RESTRIDE_OK);
    write_in(outside, "kept");
    assert_int_equal(rs_folder_create(&folder), RESTRIDE_OK);
    assert_string_not_equal(folder, outside);
    struct stat info;
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    write_in(folder, "file");
    char *deeper = in(folder, "deeper"), *link = in(folder, "link"), *kept = in(outside, "kept");
    assert_int_equal(mkdir(deeper, 0700), 0);
    write_in(deeper, "file");
    assert_int_equal(symlink(outside, link), 0);
    char *name = strdup(folder);
    rs_folder_remove(folder);
    assert_false(exists(name));
    assert_true(exists(kept)); /* what a link leads to is not in the folder */
    rs_folder_remove(outside);
    rs_folder_remove(NULL);
    free(name);
    free(deeper);
    free(link);
    free(kept);
}

static void test_it_lies_below_tmpdir(void **state)
{
    (void)state;
    char *folder, *inner;
    assert_int_equal(rs_folder_create(&folder), RESTRIDE_OK);
    setenv("TMPDIR", folder, 1);
    assert_int_equal(rs_folder_create(&inner), RESTRIDE_OK);
    assert_int_equal(strncmp(inner, folder, strlen(folder)), 0);
    rs_folder_remove(inner);
    rs_folder_remove(folder);
    assert_int_equal(rs_folder_create(&inner), RESTRIDE_IO);
    assert_null(inner);
    assert_non_null(strstr(restride_last_error(), "is TMPDIR right?"));
    unsetenv("TMPDIR");
}

/* Processes may still write into it by its name. */
static void test_it_goes_while_files_are_written(void **state)
{
    (void)state;
    enum { ROUNDS = 50 };
    for (int i = 0; i < ROUNDS; i++) {
        char *folder;
        assert_int_equal(rs_folder_create(&folder), RESTRIDE_OK);
        char *name = strdup(folder), *path = in(folder, "file");
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            for (int file; (file = open(path, O_WRONLY | O_CREAT, 0600)) >= 0;)
                close(file);
            _exit(0);
        }
        while (!exists(path))
            ;
        rs_folder_remove(folder);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_false(exists(name));
        rs_text other = RS_TEXT_EMPTY;
        rs_text_format(&other, "%s.removed", name);
        assert_false(exists(other.data));
        rs_text_free(&other);
        free(name);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_goes_with_what_is_in_it),
        cmocka_unit_test(test_it_goes_while_files_are_written),
        cmocka_unit_test(test_it_lies_below_tmpdir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
