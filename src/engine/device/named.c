/* Which device a user means; see engine/open.h. */
#include "engine/open.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, length) == 0)
            return true;
    return false;
}

bool rs_device_is_called(const char *word, bool is_gpu, const char *name)
{
    if (strcmp(word, "gpu") == 0)
        return is_gpu;
    if (strcmp(word, "cpu") == 0)
        return !is_gpu;
    return contains(name, word);
}

int rs_device_fitness(const char *wanted, size_t number, bool is_gpu, const char *name)
{
    if (wanted == NULL)
        return is_gpu ? 2 : 1;
    char *end;
    unsigned long long wanted_number = strtoull(wanted, &end, 10);
    if (*wanted != '\0' && *end == '\0')
        return wanted_number == number;
    return rs_device_is_called(wanted, is_gpu, name);
}
