/* See wisdom_files.h. */
#include "wisdom_files.h"

#include <stdio.h>
#include <stdlib.h>

char wisdom_folder[200];
char wisdom_path[256];

void use_fresh_wisdom(void)
{
    static int number;
    snprintf(wisdom_path, sizeof wisdom_path, "%s/%d/deep/wisdom.json", wisdom_folder, number++);
    setenv("RESTRIDE_WISDOM", wisdom_path, 1);
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
