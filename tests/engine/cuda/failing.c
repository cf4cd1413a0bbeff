/* See failing.h. */
#include "failing.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often the function that EMULATED_FAIL names was called since the variable has its value. */
static struct {
    char value[96];
    size_t calls;
    bool has_failed;
} failing;

static void read_failing(void)
{
    const char *value = getenv("EMULATED_FAIL");
    if (value == NULL)
        value = "";
    if (strcmp(value, failing.value) == 0)
        return;
    failing.calls = 0;
    failing.has_failed = false;
    snprintf(failing.value, sizeof failing.value, "%s", value);
}

bool failing_now(const char *name)
{
    read_failing();
    size_t length = strcspn(failing.value, ":");
    if (strlen(name) != length || strncmp(name, failing.value, length) != 0)
        return false;
    failing.calls++;
    if (failing.value[length] == ':' &&
        strtoull(failing.value + length + 1, NULL, 10) != failing.calls)
        return false;
    failing.has_failed = true;
    return true;
}

bool emulated_has_failed(void)
{
    read_failing();
    return failing.has_failed;
}
