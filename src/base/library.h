/* Tables of functions from libraries that are found at run time. */
#ifndef RESTRIDE_BASE_LIBRARY_H
#define RESTRIDE_BASE_LIBRARY_H

#include <stddef.h>

/* A function by the name it is exported under, and its offset in the table. */
typedef struct {
    const char *name;
    size_t place;
} rs_library_function;

#define RS_LIBRARY_FUNCTION(table, function)                                                       \
    {                                                                                              \
#function, offsetof(table, function)                                                       \
    }

/* Writes the addresses into the table, NULL for what the library (of dlopen()) does not have.
 * Returns the first name of those, NULL when all are there. */
const char *rs_library_find(void *library, const rs_library_function *functions, size_t count,
                            void *table);

#endif
