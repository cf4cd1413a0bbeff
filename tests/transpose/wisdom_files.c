/* See wisdom_files.h. */
#include "wisdom_files.h"

#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/wisdom_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char wisdom_folder[200];
char wisdom_path[256];

void use_fresh_wisdom(void)
{
    static int number;
    snprintf(wisdom_path, sizeof wisdom_path, "%s/%d/deep/wisdom.json", wisdom_folder, number++);
    setenv("RESTRIDE_WISDOM", wisdom_path, 1);
}

void write_wisdom(const char *bytes, size_t count)
{
    char command[400];
    snprintf(command, sizeof command, "mkdir -p '%.*s'",
             (int)(strrchr(wisdom_path, '/') - wisdom_path), wisdom_path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(wisdom_path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

size_t records_in(const char *path)
{
    json_t *records;
    if (rs_wisdom_file_read(path, true, &records) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    size_t count = json_array_size(records);
    json_decref(records);
    return count;
}

int make_wisdom_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(wisdom_folder, sizeof wisdom_folder, "%s/restride-wisdom-XXXXXX",
             base == NULL ? "/tmp" : base);
    return mkdtemp(wisdom_folder) == NULL;
}

int remove_wisdom_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", wisdom_folder);
    return system(command);
}
