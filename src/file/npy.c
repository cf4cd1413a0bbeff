/*
 * .npy headers; see npy.h. A header is eight or twelve bytes (magic, version, length) and the text
 * of a Python dictionary with the keys 'descr', 'fortran_order' and 'shape', filled up with spaces
 * and ended by a newline. What each 'descr' means is in npy_type.c.
 */
#include "file/npy.h"
#include "base/arithmetic.h"
#include "base/text.h"
#include "file/literal.h"
#include "file/npy_type.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, SHORT_PREFIX = 10, LONG_PREFIX = 12 };
static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* Files that people take for .npy, by their first bytes. */
static const struct {
    const char *begin;
    size_t length;
    const char *advice;
} others[] = {
    {"PK\003\004", 4,
     "is a .npz archive (zip); unpack it and name the .npy file inside, because members of an "
     "archive cannot be changed in place"},
    {"\037\213", 2, "is compressed by gzip; decompress it first"},
    {"\200", 1, "is a Python pickle; save the array with numpy.save"},
    {"\211HDF", 4, "is an HDF5 file; name its array's bytes with --shape, --dtype and --offset"},
};

static restride_status check_magic(const char *name, const unsigned char *bytes, size_t available)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (available >= others[i].length && memcmp(bytes, others[i].begin, others[i].length) == 0)
            return rs_fail(RESTRIDE_SYNTAX, "%s %s.", name, others[i].advice);
    if (available < SHORT_PREFIX || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return rs_fail(
            RESTRIDE_SYNTAX,
            "%s does not begin like a .npy file; save the array with numpy.save, or give "
            "bare numbers to restride transpose or convert, with --shape or --dims.",
            name);
    return RESTRIDE_OK;
}

static size_t little_endian(const unsigned char *bytes, int count)
{
    size_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* Where the dictionary lies. */
static restride_status find_text(rs_npy *npy, const char *name, const unsigned char *bytes,
                                 size_t available, size_t file_bytes, rs_literal *text)
{
    restride_status status = check_magic(name, bytes, available);
    if (status != RESTRIDE_OK)
        return status;
    npy->version[0] = bytes[MAGIC_BYTES];
    npy->version[1] = bytes[MAGIC_BYTES + 1];
    if (npy->version[0] < 1 || npy->version[0] > 3 || npy->version[1] != 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%s has version %d.%d of the .npy format; 1.0, 2.0 and 3.0 are known.", name,
                       npy->version[0], npy->version[1]);
    size_t prefix = npy->version[0] == 1 ? SHORT_PREFIX : LONG_PREFIX;
    if (file_bytes < prefix || available < prefix)
        return rs_fail(RESTRIDE_IO, "%s ends inside its header.", name);
    size_t length = little_endian(bytes + MAGIC_BYTES + 2, npy->version[0] == 1 ? 2 : 4);
    npy->header_bytes = prefix + length;
    if (npy->header_bytes > file_bytes)
        return rs_fail(RESTRIDE_IO,
                       "%s says that its header has %zu bytes, but the whole file has %zu; it is "
                       "damaged or not complete.",
                       name, npy->header_bytes, file_bytes);
    if (npy->header_bytes > available)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The header of %s has %zu bytes, and at most %d are read; give --shape, "
                       "--dtype and --offset instead.",
                       name, npy->header_bytes, RS_NPY_MAX_HEADER);
    rs_literal_begin(text, name, (const char *)bytes + prefix, length);
    return RESTRIDE_OK;
}

static restride_status read_shape(rs_npy *npy, rs_literal *text)
{
    npy->rank = 0;
    rs_literal_expect(text, '(');
    while (!rs_literal_accept(text, ')') && !text->failed) {
        size_t extent = rs_literal_number(text);
        if (npy->rank == RS_NPY_MAX_RANK)
            return rs_fail(RESTRIDE_UNSUPPORTED, "The array in %s has more than %d axes.",
                           text->name, RS_NPY_MAX_RANK);
        npy->shape[npy->rank++] = extent;
        if (!rs_literal_accept(text, ',') && !rs_literal_at(text, ')'))
            return rs_literal_fail(text);
    }
    return text->failed ? rs_literal_fail(text) : RESTRIDE_OK;
}

static restride_status read_descr(rs_npy *npy, rs_literal *text)
{
    const char *begin = rs_literal_here(text);
    restride_status status = rs_npy_type_read(text, &npy->item_bytes, &npy->structured);
    if (status != RESTRIDE_OK)
        return status;
    size_t length = (size_t)(text->next - begin);
    npy->type = malloc(length + 1);
    if (npy->type == NULL)
        return rs_fail_memory("the type of an array");
    memcpy(npy->type, begin, length);
    npy->type[length] = '\0';
    return RESTRIDE_OK;
}

static restride_status read_order(rs_npy *npy, rs_literal *text)
{
    npy->fortran_order = rs_literal_word(text, "True");
    if (!npy->fortran_order && !rs_literal_word(text, "False"))
        return rs_literal_fail(text);
    return RESTRIDE_OK;
}

static const struct {
    const char *key;
    restride_status (*read)(rs_npy *npy, rs_literal *text);
} entries[] = {
    {"descr", read_descr},
    {"fortran_order", read_order},
    {"shape", read_shape},
};
enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

static restride_status read_entry(rs_npy *npy, rs_literal *text, unsigned *seen)
{
    rs_literal_text key;
    if (!rs_literal_string(text, &key) || !rs_literal_expect(text, ':'))
        return rs_literal_fail(text);
    for (unsigned i = 0; i < ENTRY_COUNT; i++)
        if (rs_literal_is(&key, entries[i].key) && (*seen & 1U << i) == 0) {
            *seen |= 1U << i;
            return entries[i].read(npy, text);
        }
    return rs_fail(RESTRIDE_SYNTAX,
                   "The header of %s has an entry \"%.*s\" that is unknown or there twice.",
                   text->name, (int)key.length, key.begin);
}

static restride_status read_dictionary(rs_npy *npy, rs_literal *text)
{
    unsigned seen = 0;
    rs_literal_expect(text, '{');
    while (!rs_literal_accept(text, '}')) {
        restride_status status = read_entry(npy, text, &seen);
        if (status != RESTRIDE_OK)
            return status;
        if (!rs_literal_accept(text, ',') && !rs_literal_at(text, '}'))
            return rs_literal_fail(text);
    }
    if (text->failed || !rs_literal_end(text))
        return rs_literal_fail(text);
    if (seen != (1U << ENTRY_COUNT) - 1)
        return rs_fail(RESTRIDE_SYNTAX,
                       "The header of %s lacks one of 'descr', 'fortran_order' and 'shape'.",
                       text->name);
    return RESTRIDE_OK;
}

static restride_status check_sizes(rs_npy *npy, const char *name, size_t file_bytes)
{
    if (npy->item_bytes == 0)
        return rs_fail(RESTRIDE_UNSUPPORTED, "The elements of the array in %s have no bytes.",
                       name);
    if (npy->rank == 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%s holds a single value without axes; there is nothing to convert.", name);
    npy->data_bytes = npy->item_bytes;
    for (int i = 0; i < npy->rank; i++)
        if (npy->shape[i] == 0)
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "The array in %s is empty: the extent of its axis %d is 0.", name, i);
        else if (!rs_size_multiply(npy->data_bytes, npy->shape[i], &npy->data_bytes))
            return rs_fail(RESTRIDE_OVERFLOW, "The array in %s has more bytes than a size holds.",
                           name);
    if (npy->data_bytes > file_bytes - npy->header_bytes)
        return rs_fail(RESTRIDE_IO,
                       "%s is shorter than its header says: the array takes %zu bytes and only "
                       "%zu follow the header; the file is damaged or not complete.",
                       name, npy->data_bytes, file_bytes - npy->header_bytes);
    return RESTRIDE_OK;
}

restride_status rs_npy_read(rs_npy *npy, const char *name, const void *bytes, size_t available,
                            size_t file_bytes)
{
    *npy = (rs_npy){0};
    rs_literal text;
    restride_status status = find_text(npy, name, bytes, available, file_bytes, &text);
    if (status == RESTRIDE_OK)
        status = read_dictionary(npy, &text);
    if (status == RESTRIDE_OK)
        status = check_sizes(npy, name, file_bytes);
    if (status != RESTRIDE_OK)
        rs_npy_free(npy);
    return status;
}

void rs_npy_free(rs_npy *npy)
{
    free(npy->type);
    npy->type = NULL;
}

restride_status rs_npy_record(const rs_npy *npy, const char *name, rs_record *record)
{
    *record = (rs_record){0};
    rs_literal text;
    rs_literal_begin(&text, name, npy->type, strlen(npy->type));
    restride_status status = rs_npy_type_leaves(&text, npy->item_bytes, record);
    if (status != RESTRIDE_OK)
        rs_record_free(record);
    return status;
}

static void write_dictionary(rs_text *text, const rs_npy *npy, int rank, const size_t shape[],
                             bool fortran_order)
{
    rs_text_format(text, "{'descr': %s, 'fortran_order': %s, 'shape': (", npy->type,
                   fortran_order ? "True" : "False");
    for (int i = 0; i < rank; i++)
        rs_text_format(text, i > 0 ? ", %zu" : "%zu", shape[i]);
    rs_text_add_string(text, rank == 1 ? ",), }" : "), }");
}

restride_status rs_npy_write(const rs_npy *npy, const char *name, int rank, const size_t shape[],
                             bool fortran_order, char *header)
{
    size_t prefix = npy->version[0] == 1 ? SHORT_PREFIX : LONG_PREFIX;
    size_t room = npy->header_bytes - prefix;
    rs_text text = RS_TEXT_EMPTY;
    write_dictionary(&text, npy, rank, shape, fortran_order);
    size_t length = text.size;
    char *dictionary = rs_text_take(&text);
    if (dictionary == NULL)
        return rs_fail_memory("a header");
    restride_status status = RESTRIDE_OK;
    if (length + 1 > room) {
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "The header of %s has room for %zu bytes and the new one needs %zu; "
                         "save the array again with numpy.save, which leaves room.",
                         name, room, length + 1);
    } else {
        memcpy(header, magic, MAGIC_BYTES);
        header[MAGIC_BYTES] = (char)npy->version[0];
        header[MAGIC_BYTES + 1] = (char)npy->version[1];
        for (size_t i = MAGIC_BYTES + 2; i < prefix; i++)
            header[i] = (char)(room >> 8 * (i - MAGIC_BYTES - 2));
        memcpy(header + prefix, dictionary, length);
        memset(header + prefix + length, ' ', room - length);
        header[npy->header_bytes - 1] = '\n';
    }
    free(dictionary);
    return status;
}
