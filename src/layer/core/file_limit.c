/* Files within the program's limits: see file_limit.h. */
#include "layer/core/file_limit.h"

#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

void rs_file_limit_ignore(sigset_t *before)
{
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, before);
}

void rs_file_limit_restore(const sigset_t *before)
{
    static const struct timespec at_once = {0, 0};
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (sigismember(before, SIGXFSZ) == 0) /* else it may be the program's */
        sigtimedwait(&limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

const char rs_file_limit_reason[] =
    "the program may write no large files, which the device's compiler may have to";

bool rs_file_limit_is_small(void)
{
    enum { SMALL = 1 << 30 };
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SMALL;
}
