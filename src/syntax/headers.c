/* See headers.h. */
#include "syntax/headers.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Beside the program, where a package carries it; else where libclang was when this was built. */
static char headers[4096] = RS_CLANG_OPENCL_HEADERS;
static pthread_once_t headers_once = PTHREAD_ONCE_INIT;

static void find_headers(void)
{
    static const char name[] = "/clang/opencl-c-base.h";
    char path[sizeof headers];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || length >= (ssize_t)(sizeof path - sizeof name))
        return;
    memcpy(slash, name, sizeof name);
    if (access(path, R_OK) != 0)
        return;
    *strrchr(path, '/') = '\0';
    strcpy(headers, path);
}

const char *rs_clang_headers(void)
{
    pthread_once(&headers_once, find_headers);
    return headers;
}
