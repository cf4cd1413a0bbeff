/* A string that grows, and whole files in and out of it. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
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

rs_decimal_text rs_decimal(double value, int digits)
{
    char local[sizeof(rs_decimal_text)];
    rs_decimal_text decimal = {""};
    size_t size = 0;
    snprintf(local, sizeof local, "%.*f", digits, value);
    for (const char *c = local; *c != '\0'; c++)
        if (isalnum((unsigned char)*c) || *c == '-')
            decimal.text[size++] = *c;
        else if (size > 0 && decimal.text[size - 1] != '.') /* it may have several bytes */
            decimal.text[size++] = '.';
    return decimal;
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

/* Reads to the end, which comes before `most` bytes. */
static restride_status read_to_end(rs_text *text, int descriptor, const char *name, uintmax_t most)
{
    while (text->size <= most) {
        if (!reserve(text, 65536))
            return rs_fail_memory(name);
        ssize_t count = read(descriptor, text->data + text->size, 65536);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return rs_fail(RESTRIDE_IO, "%s could not be read: %s.", name, strerror(errno));
        if (count == 0) {
            text->data[text->size] = '\0';
            return RESTRIDE_OK;
        }
        text->size += (size_t)count;
    }
    return rs_fail(RESTRIDE_IO, "%s grew while it was read.", name);
}

restride_status rs_text_read_descriptor(rs_text *text, int descriptor, const char *name)
{
    return read_to_end(text, descriptor, name, UINTMAX_MAX);
}

/* A pipe or a device may have no end, or nothing to say for ever, so it is not even waited for. The
 * files of /proc have no size. */
restride_status rs_text_read_file(rs_text *text, const char *path)
{
    enum { MOST_WITHOUT_SIZE = 16 << 20 };
    struct stat found;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &found) != 0) {
        const int reason = errno;
        if (descriptor >= 0)
            close(descriptor);
        return rs_fail(RESTRIDE_IO, "%s could not be opened: %s.", path, strerror(reason));
    }
    restride_status status = RESTRIDE_OK;
    if (!S_ISREG(found.st_mode))
        status = rs_fail(RESTRIDE_IO,
                         "%s is not a regular file; write what it has into a file first.", path);
    else
        status = read_to_end(text, descriptor, path,
                             found.st_size > 0 ? (uintmax_t)found.st_size : MOST_WITHOUT_SIZE);
    close(descriptor);
    return status;
}

/* A pipe, a terminal or /dev/null is written to; a new name would take its place. */
static bool is_special(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

/* A failure here is one of `file`, and its errno stays. */
static bool write_and_close(FILE *file, const char *bytes, size_t count)
{
    if (file == NULL)
        return false;
    size_t written = fwrite(bytes, 1, count, file);
    return fclose(file) == 0 && written == count;
}

/* A new file beside `path`, whose name no other thread or process has, also where processes of
 * several containers have one number. *name is the caller's. NULL with errno. */
static FILE *create_beside(const char *path, char **name)
{
    enum { ATTEMPTS = 1000 };
    static atomic_uint next;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        rs_text text = RS_TEXT_EMPTY;
        rs_text_format(&text, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&next, 1));
        *name = rs_text_take(&text);
        FILE *file = *name == NULL ? NULL : fopen(*name, "wxe");
        if (file != NULL)
            return file;
        int reason = *name == NULL ? ENOMEM : errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST)
            break;
    }
    return NULL;
}

static bool write_and_rename(const char *path, const char *bytes, size_t count)
{
    char *temporary;
    FILE *file = create_beside(path, &temporary);
    if (file == NULL)
        return false;
    bool written = write_and_close(file, bytes, count) && rename(temporary, path) == 0;
    int reason = errno;
    if (!written)
        unlink(temporary);
    free(temporary);
    errno = reason;
    return written;
}

static bool can_create_beside(const char *path)
{
    char *temporary;
    FILE *file = create_beside(path, &temporary);
    if (file == NULL)
        return false;
    fclose(file);
    bool removed = unlink(temporary) == 0;
    free(temporary);
    return removed;
}

static restride_status fail_writing(const char *path)
{
    return errno == ENOMEM
               ? rs_fail_memory("a file name")
               : rs_fail(RESTRIDE_IO, "%s could not be written: %s.", path, strerror(errno));
}

restride_status rs_text_try_file(const char *path)
{
    struct stat found;
    bool exists = stat(path, &found) == 0;
    bool good = exists && !S_ISREG(found.st_mode)
                    ? !S_ISDIR(found.st_mode) && access(path, W_OK) == 0
                    : can_create_beside(path);
    if (exists && S_ISDIR(found.st_mode))
        errno = EISDIR;
    return good ? RESTRIDE_OK : fail_writing(path);
}

restride_status rs_text_write_file(const char *path, const char *bytes, size_t count)
{
    bool written = is_special(path) ? write_and_close(fopen(path, "we"), bytes, count)
                                    : write_and_rename(path, bytes, count);
    return written ? RESTRIDE_OK : fail_writing(path);
}

bool rs_file_signature(const char *path, char signature[RS_SIGNATURE_SIZE])
{
    rs_text text = RS_TEXT_EMPTY;
    if (rs_text_read_file(&text, path) != RESTRIDE_OK)
        return false;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    snprintf(signature, RS_SIGNATURE_SIZE, "%zu %016" PRIx64, text.size, hash);
    rs_text_free(&text);
    return true;
}

bool rs_is_among(const char *word, size_t length, const char *list)
{
    for (size_t size; *list != '\0'; list += size + (list[size] == ' ')) {
        size = strcspn(list, " ");
        if (size == length && memcmp(list, word, length) == 0)
            return true;
    }
    return false;
}

bool rs_begins_among(const char *text, const char *list)
{
    for (size_t size; *list != '\0'; list += size + (list[size] == ' ')) {
        size = strcspn(list, " ");
        if (strncmp(text, list, size) == 0)
            return true;
    }
    return false;
}
