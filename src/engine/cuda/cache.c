/* Compiled kernels on disk; see cache.h. */
#include "engine/cuda/cache.h"

#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a. Two of them with different starts name an entry, so that a collision is out of reach. */
static uint64_t hash(uint64_t start, const char *bytes, size_t count)
{
    uint64_t value = start;
    for (size_t i = 0; i < count; i++)
        value = (value ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return value;
}

static const uint64_t first_start = UINT64_C(0xcbf29ce484222325);
static const uint64_t second_start = UINT64_C(0x9e3779b97f4a7c15);

/* The folder, or NULL when the environment names none. */
static char *folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    rs_text path = RS_TEXT_EMPTY;
    if (cache != NULL && cache[0] == '/')
        rs_text_format(&path, "%s/restride/kernels", cache);
    else if (home != NULL && home[0] == '/')
        rs_text_format(&path, "%s/.cache/restride/kernels", home);
    else
        return NULL;
    return rs_text_take(&path);
}

static char *entry_path(const char *key)
{
    char *parent = folder();
    if (parent == NULL)
        return NULL;
    rs_text path = RS_TEXT_EMPTY;
    size_t length = strlen(key);
    rs_text_format(&path, "%s/%016" PRIx64 "%016" PRIx64 ".cubin", parent,
                   hash(first_start, key, length), hash(second_start, key, length));
    free(parent);
    return rs_text_take(&path);
}

/* The hash of what follows, as a line of fixed width. */
enum { HEADER_BYTES = 39 };

static void write_header(char header[HEADER_BYTES + 1], const char *bytes, size_t count)
{
    snprintf(header, HEADER_BYTES + 1, "restride kernel 1     %016" PRIx64 "\n",
             hash(first_start, bytes, count));
}

bool rs_cuda_cache_read(const char *key, rs_text *content)
{
    char *path = entry_path(key);
    if (path == NULL)
        return false;
    rs_text file = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&file, path);
    char header[HEADER_BYTES + 1] = "";
    bool good = status == RESTRIDE_OK;
    if (good) {
        good = file.size > HEADER_BYTES;
        if (good) {
            write_header(header, file.data + HEADER_BYTES, file.size - HEADER_BYTES);
            good = memcmp(header, file.data, HEADER_BYTES) == 0;
        }
        if (good)
            rs_text_add(content, file.data + HEADER_BYTES, file.size - HEADER_BYTES);
        else
            rs_log(RS_LOG_ERROR, "%s is damaged; its kernel is compiled again", path);
    }
    rs_text_free(&file);
    free(path);
    return good && !content->failed;
}

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int code = mkdir(path, 0700);
        *slash = '/';
        if (code != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

void rs_cuda_cache_write(const char *key, const char *bytes, size_t count)
{
    char *path = entry_path(key);
    if (path == NULL)
        return;
    char header[HEADER_BYTES + 1];
    write_header(header, bytes, count);
    rs_text file = RS_TEXT_EMPTY;
    rs_text_add(&file, header, HEADER_BYTES);
    rs_text_add(&file, bytes, count);
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex); /* the temporary name is one a process */
    bool written = make_folders(path) && !file.failed &&
                   rs_text_write_file(path, file.data, file.size) == RESTRIDE_OK;
    pthread_mutex_unlock(&mutex);
    if (!written)
        rs_log(RS_LOG_ERROR, "%s could not be written; the kernel will be compiled again", path);
    rs_text_free(&file);
    free(path);
}
