/* A string that grows, and whole files in and out of it. */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

restride_status rs_text_write_file(const char *path, const char *bytes, size_t count)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s.%ld.tmp", path, (long)getpid());
    char *temporary = rs_text_take(&name);
    if (temporary == NULL)
        return rs_fail_memory("a file name");
    restride_status status = RESTRIDE_OK;
    FILE *file = fopen(temporary, "we");
    if (file == NULL) {
        status = rs_fail(RESTRIDE_IO, "%s could not be written: %s.", path, strerror(errno));
    } else {
        size_t written = fwrite(bytes, 1, count, file);
        int closed = fclose(file);
        if (written != count || closed != 0 || rename(temporary, path) != 0) {
            status = rs_fail(RESTRIDE_IO, "%s could not be written: %s.", path, strerror(errno));
            unlink(temporary);
        }
    }
    free(temporary);
    return status;
}
