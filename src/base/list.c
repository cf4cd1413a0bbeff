/* See list.h. A pointer's bytes are copied, since each list has a type of its own. */
#include "base/list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 16 };

static bool make_room(void *list, size_t wanted, size_t size)
{
    void *elements;
    memcpy(&elements, list, sizeof elements);
    if (wanted > SIZE_MAX / 2 / size || (elements = realloc(elements, wanted * size)) == NULL)
        return false;
    memcpy(list, &elements, sizeof elements);
    return true;
}

bool rs_list_grow(void *list, size_t count, size_t size)
{
    const bool is_full = count == 0 || (count >= FIRST && (count & (count - 1)) == 0);
    return !is_full || make_room(list, count == 0 ? FIRST : 2 * count, size);
}

bool rs_list_copy(void *copy, const void *from, size_t count, size_t size)
{
    void *elements = NULL;
    size_t room = FIRST;
    while (room < count)
        room *= 2;
    const bool is_copied = make_room(&elements, room, size);
    if (is_copied && count > 0)
        memcpy(elements, from, count * size);
    memcpy(copy, &elements, sizeof elements);
    return is_copied;
}
