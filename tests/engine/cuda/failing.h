/* Which call of the emulated driver fails: EMULATED_FAIL (driver.c). */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>

/* Counts a call of a function; whether this one fails. */
bool failing_now(const char *name);

/* Whether it came to the failure that is asked for. */
__attribute__((visibility("default"))) bool emulated_has_failed(void);

#endif
