/* Lists of malloc's that grow by one. Their room follows from their length, so that nobody keeps
 * it: 16, and twice that at each power of two from there on. */
#ifndef RS_BASE_LIST_H
#define RS_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Sees to room for one more behind `count` elements of a size; `list` is where the list's pointer
 * lies, which may be NULL while it is empty. False without memory: the list is as before. */
bool rs_list_grow(void *list, size_t count, size_t size);

/* A copy that may grow in the same way; false without memory. */
bool rs_list_copy(void *copy, const void *from, size_t count, size_t size);

#define RS_LIST_GROW(list, count) rs_list_grow(&(list), (size_t)(count), sizeof *(list))

/* Adds a value, or sets a flag without memory. */
#define RS_LIST_ADD(list, count, failed, ...)                                                      \
    (RS_LIST_GROW(list, count) ? (void)((list)[(count)++] = __VA_ARGS__) : (void)((failed) = true))

#endif
