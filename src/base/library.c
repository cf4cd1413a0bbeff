/* See library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

/* POSIX lets a function's address travel through a data pointer; C does not convert one into the
 * other. */
const char *rs_library_find(void *library, const rs_library_function *functions, size_t count,
                            void *table)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, functions[i].name);
        memcpy((char *)table + functions[i].place, &function, sizeof function);
        if (function == NULL && missing == NULL)
            missing = functions[i].name;
    }
    return missing;
}
