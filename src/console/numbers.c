/* Numbers on the command line; see options.h. */
#include "base/arithmetic.h"
#include "console/options.h"

#include <stdint.h>
#include <string.h>

/* Reads the digits at *text and advances it past them. */
static bool read_digits(const char **text, size_t *number)
{
    const char *next = *text;
    *number = 0;
    for (; *next >= '0' && *next <= '9'; next++) {
        size_t digit = (size_t)(*next - '0');
        if (*number > (SIZE_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    bool any = next != *text;
    *text = next;
    return any;
}

bool rs_cli_read_count(const char *text, size_t *count)
{
    return read_digits(&text, count) && *text == '\0';
}

/* As read_digits(), with an optional K, M or G after the digits. */
static bool read_amount(const char **text, size_t *amount)
{
    static const char units[] = "KMG";
    if (!read_digits(text, amount))
        return false;
    const char *unit = **text != '\0' ? strchr(units, **text) : NULL;
    if (unit == NULL)
        return true;
    ++*text;
    return rs_size_multiply(*amount, (size_t)1 << 10 * (unit - units + 1), amount);
}

bool rs_cli_read_bytes(const char *text, size_t *bytes)
{
    return read_amount(&text, bytes) && *text == '\0';
}

bool rs_cli_take_numbers(const char *text, void *field)
{
    rs_cli_numbers *list = field;
    const size_t most = sizeof list->values / sizeof list->values[0];
    list->count = 0;
    do {
        size_t *value = &list->values[list->count];
        if (list->count == most || !read_amount(&text, value) || *value == 0)
            return false;
        list->count++;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

bool rs_cli_read_shape(const char **text, size_t *rows, size_t *cols)
{
    const char *next = *text;
    if (!read_digits(&next, rows) || *rows == 0 || *next++ != 'x' || !read_digits(&next, cols) ||
        *cols == 0 || (*next != ',' && *next != '\0'))
        return false;
    *text = next + (*next == ',');
    return true;
}

bool rs_cli_take_unit(const char *text, void *field)
{
    size_t *bytes = field;
    static const struct {
        const char *name;
        const char *numpy_name;
        size_t bytes;
    } types[] = {
        {"u8", "uint8", 1},         {"i8", "int8", 1},     {"u16", "uint16", 2},
        {"i16", "int16", 2},        {"f16", "float16", 2}, {"u32", "uint32", 4},
        {"i32", "int32", 4},        {"f32", "float32", 4}, {"u64", "uint64", 8},
        {"i64", "int64", 8},        {"f64", "float64", 8}, {"c64", "complex64", 8},
        {"c128", "complex128", 16},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, text) == 0 || strcmp(types[i].numpy_name, text) == 0) {
            *bytes = types[i].bytes;
            return true;
        }
    return rs_cli_read_count(text, bytes) && *bytes > 0;
}

bool rs_cli_take_type(const char *text, void *field)
{
    rs_cli_type *type = field;
    type->name = text;
    return rs_cli_take_unit(text, &type->bytes);
}

bool rs_cli_read_list(const char *text, char separator, int most, size_t values[], int *count)
{
    *count = 0;
    do {
        if (*count == most || !read_digits(&text, &values[*count]))
            return false;
        ++*count;
    } while (*text == separator && *text++ != '\0');
    return *text == '\0';
}

bool rs_cli_read_axes(const char **text, int rank, int axes[])
{
    bool seen[10] = {false};
    int place = 0;
    for (; **text != ',' && **text != '\0'; place++, (*text)++) {
        int axis = **text - '0';
        if (place == rank || axis < 0 || axis >= rank || seen[axis])
            return false;
        seen[axis] = true;
        axes[place] = axis;
    }
    if (**text == ',')
        (*text)++;
    return place == rank;
}
