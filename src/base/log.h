/*
 * Messages for people who look into a run, on standard error, by level from RESTRIDE_LOG (error,
 * warning, info or debug; unset: nothing). The library says nothing else by itself.
 */
#ifndef RS_BASE_LOG_H
#define RS_BASE_LOG_H

#include "base/status.h"

typedef enum {
    RS_LOG_ERROR = 1,
    RS_LOG_WARNING = 2,
    RS_LOG_INFO = 3,
    RS_LOG_DEBUG = 4
} rs_log_level;

/* One line, "restride: LEVEL: ..."; the newline is added. Thread-safe. */
void rs_log(rs_log_level level, const char *format, ...) RS_PRINTF(2, 3);

#endif
