/* A string that grows, and whole files in and out of it. */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes room for `count` more bytes and the final zero. */
static bool reserve(rs_text *text, size_t count)
{
    if (text->failed)
        return false;
    if (count > (size_t)-1 / 4 - text->size) {
        text->failed = true;
        return false;
    }
    size_t needed = text->size + count + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = needed < 256 ? 256 : needed * 2;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void rs_text_add(rs_text *text, const char *bytes, size_t count)
{
    if (!reserve(text, count))
        return;
    if (count > 0)
        memcpy(text->data + text->size, bytes, count);
    text->size += count;
    text->data[text->size] = '\0';
}

void rs_text_add_string(rs_text *text, const char *string)
{
    rs_text_add(text, string, strlen(string));
}

void rs_text_format(rs_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

char *rs_text_take(rs_text *text)
{
    if (!text->failed && text->data == NULL)
        rs_text_add(text, "", 0);
    if (text->failed) {
        rs_text_free(text);
        return NULL;
    }
    char *data = text->data;
    *text = RS_TEXT_EMPTY;
    return data;
}

void rs_text_free(rs_text *text)
{
    free(text->data);
    *text = RS_TEXT_EMPTY;
}

restride_status rs_text_read_descriptor(rs_text *text, int descriptor, const char *name)
{
    for (;;) {
        if (!reserve(text, 65536))
            return rs_fail_memory(name);
        ssize_t count = read(descriptor, text->data + text->size, 65536);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return rs_fail(RESTRIDE_IO, "%s could not be read: %s.", name, strerror(errno));
        if (count == 0)
            break;
        text->size += (size_t)count;
    }
    text->data[text->size] = '\0';
    return RESTRIDE_OK;
}

restride_status rs_text_read_file(rs_text *text, const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return rs_fail(RESTRIDE_IO, "%s could not be opened: %s.", path, strerror(errno));
    restride_status status = rs_text_read_descriptor(text, descriptor, path);
    close(descriptor);
    return status;
}

/* A pipe, a terminal or /dev/null is written to; a new name would take its place. */
static bool is_special(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

static bool write_directly(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false;
    size_t written = fwrite(bytes, 1, count, file);
    return fclose(file) == 0 && written == count;
}

static bool write_and_rename(const char *path, const char *temporary, const char *bytes,
                             size_t count)
{
    if (write_directly(temporary, bytes, count) && rename(temporary, path) == 0)
        return true;
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return false;
}

restride_status rs_text_try_file(const char *path)
{
    struct stat found;
    bool exists = stat(path, &found) == 0;
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%ld.tmp", path, (long)getpid());
    if (name.failed)
        return rs_fail_memory("a file name");
    bool good = exists && !S_ISREG(found.st_mode)
                    ? !S_ISDIR(found.st_mode) && access(path, W_OK) == 0
                    : write_directly(name.data, "", 0) && unlink(name.data) == 0;
    if (exists && S_ISDIR(found.st_mode))
        errno = EISDIR;
    restride_status status =
        good ? RESTRIDE_OK
             : rs_fail(RESTRIDE_IO, "%s could not be written: %s.", path, strerror(errno));
    rs_text_free(&name);
    return status;
}

restride_status rs_text_write_file(const char *path, const char *bytes, size_t count)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%ld.tmp", path, (long)getpid());
    char *temporary = rs_text_take(&name);
    if (temporary == NULL)
        return rs_fail_memory("a file name");
    bool written = is_special(path) ? write_directly(path, bytes, count)
                                    : write_and_rename(path, temporary, bytes, count);
    restride_status status = RESTRIDE_OK;
    if (!written)
        status = rs_fail(RESTRIDE_IO, "%s could not be written: %s.", path, strerror(errno));
    free(temporary);
    return status;
}
