/* See names.h. */
#include "layer/cuda/names.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char nameless[] = "12_GLOBAL__N_1", marker[] = "_GLOBAL__N_";
static const char prefix[] = "__nv_static_";

/* Behind nvcc's prefix, `symbol` where it has none. */
static const char *skip_prefix(const char *symbol)
{
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return symbol;
    char *end;
    const char *number = symbol + sizeof prefix - 1;
    const unsigned long length = strtoul(number, &end, 10);
    if (end == number || *end != '_' || length >= strlen(end) || end[1 + length] != '_')
        return symbol;
    return end + 2 + length;
}

/* Whether a namespace without a name stands at `at`, as "42_GLOBAL__N__...": its length with the
 * digits. */
static size_t nameless_length(const char *at)
{
    char *end;
    if (!isdigit((unsigned char)*at) || *at == '0')
        return 0;
    const unsigned long length = strtoul(at, &end, 10);
    const size_t left = strlen(end);
    if (strncmp(end, marker, sizeof marker - 1) != 0 || length < sizeof marker - 1 || length > left)
        return 0;
    return (size_t)(end - at) + length;
}

/* Drops the mark of internal linkage before the function's own name. */
static const char *add_head(rs_text *text, const char *at)
{
    if (strncmp(at, "_Z", 2) != 0)
        return at;
    rs_text_add(text, at, 2);
    at += 2;
    const bool is_nested = *at == 'N';
    if (is_nested)
        rs_text_add(text, at++, 1);
    for (;;) {
        char *end;
        at += *at == 'L' && isdigit((unsigned char)at[1]);
        if (!is_nested || !isdigit((unsigned char)*at))
            return at;
        const unsigned long length = strtoul(at, &end, 10);
        if (length > strlen(end))
            return at;
        const char *behind = end + length;
        if (nameless_length(at) > 0)
            rs_text_add_string(text, nameless);
        else
            rs_text_add(text, at, (size_t)(behind - at));
        at = behind;
    }
}

char *rs_name_plain(const char *symbol)
{
    rs_text text = RS_TEXT_EMPTY;
    const char *at = add_head(&text, skip_prefix(symbol));
    while (*at != '\0') {
        const size_t length = nameless_length(at);
        if (length > 0)
            rs_text_add_string(&text, nameless);
        else
            rs_text_add(&text, at, 1);
        at += length > 0 ? length : 1;
    }
    rs_text_add_string(&text, "");
    return rs_text_take(&text);
}

/* The first namespace without a name. */
static const char *find_nameless(const char *symbol, size_t *length)
{
    for (; *symbol != '\0'; symbol++)
        if ((*length = nameless_length(symbol)) > 0)
            return symbol;
    return NULL;
}

char *rs_name_beside(const char *plain, const char *beside)
{
    rs_text text = RS_TEXT_EMPTY;
    const char *behind = skip_prefix(beside);
    size_t length = 0;
    const char *own = find_nameless(behind, &length);
    rs_text_add(&text, beside, (size_t)(behind - beside));
    for (const char *at = plain; *at != '\0';) {
        const bool is_nameless = strncmp(at, nameless, sizeof nameless - 1) == 0;
        if (is_nameless && own != NULL)
            rs_text_add(&text, own, length);
        else
            rs_text_add(&text, at, is_nameless ? sizeof nameless - 1 : 1);
        at += is_nameless ? sizeof nameless - 1 : 1;
    }
    rs_text_add_string(&text, "");
    return rs_text_take(&text);
}
