/* The table of symbols of one analyzed unit. */
#include "analyze/symbols.h"

#include "base/list.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_LIMIT = 64, SYMBOL_LIMIT = 30000 };

static bool is_iteration(rs_symbol_kind kind)
{
    return kind != RS_SYMBOL_PARAMETER && kind != RS_SYMBOL_AUXILIARY;
}

uint64_t rs_name_hash(const char *text)
{
    uint64_t value = 1469598103934665603u;
    for (const char *c = text; *c != '\0'; c++)
        value = (value ^ (unsigned char)*c) * 1099511628211u;
    return value;
}

static bool is_called(const rs_symbol *symbol, uint64_t hash, const char *name)
{
    return symbol->hash == hash && strcmp(symbol->name, name) == 0;
}

bool rs_symbols_has(const rs_symbols *symbols, const char *name)
{
    const uint64_t hash = rs_name_hash(name);
    for (int i = 0; i < symbols->count; i++)
        if (is_called(&symbols->symbols[i], hash, name))
            return true;
    return false;
}

static int find(const rs_symbols *symbols, const char *name, rs_symbol_kind kind)
{
    const uint64_t hash = rs_name_hash(name);
    for (int i = symbols->count - 1; i >= 0; i--)
        if (symbols->symbols[i].kind == kind && is_called(&symbols->symbols[i], hash, name))
            return i;
    return -1;
}

int rs_symbols_find(rs_symbols *symbols, const char *name, rs_symbol_kind kind, int dimension)
{
    int found = find(symbols, name, kind);
    if (found >= 0)
        return found;
    if (symbols->count >= SYMBOL_LIMIT || !RS_LIST_GROW(symbols->symbols, symbols->count))
        return -1;
    if (is_iteration(kind) && symbols->column_count == COLUMN_LIMIT)
        return -1;
    char *copy = strdup(name);
    if (copy == NULL)
        return -1;
    int added = symbols->count++;
    symbols->symbols[added] =
        (rs_symbol){.name = copy, .hash = rs_name_hash(copy), .kind = kind, .dimension = dimension};
    if (is_iteration(kind))
        symbols->columns[symbols->column_count++] = added;
    return added;
}

int rs_symbols_find_keyed(rs_symbols *symbols, const char *name, rs_symbol_kind kind, uint64_t key)
{
    rs_text free_name = RS_TEXT_EMPTY;
    rs_text_add_string(&free_name, name);
    uint64_t hash = rs_name_hash(name);
    for (int i = 0, n = 2; i < symbols->count && !free_name.failed; i++) {
        const rs_symbol *s = &symbols->symbols[i];
        if (s->kind != kind)
            continue;
        if (s->key == key) {
            rs_text_free(&free_name);
            return i;
        }
        if (is_called(s, hash, free_name.data)) { /* another's: all are looked at again */
            rs_text_free(&free_name);
            rs_text_format(&free_name, "%s.%d", name, n++);
            hash = free_name.failed ? 0 : rs_name_hash(free_name.data);
            i = -1;
        }
    }
    int added = free_name.failed ? -1 : rs_symbols_find(symbols, free_name.data, kind, -1);
    rs_text_free(&free_name);
    if (added >= 0)
        symbols->symbols[added].key = key;
    return added;
}

bool rs_symbol_iterates(const rs_symbols *symbols, int symbol)
{
    return is_iteration(symbols->symbols[symbol].kind);
}

bool rs_symbol_is_natural(const rs_symbols *symbols, int symbol)
{
    const rs_symbol *s = &symbols->symbols[symbol];
    return s->natural || s->size || s->kind == RS_SYMBOL_GROUP || s->kind == RS_SYMBOL_LOCAL ||
           s->kind == RS_SYMBOL_GLOBAL;
}

uint64_t rs_symbol_depends(const rs_symbols *symbols, int symbol)
{
    if (!rs_symbol_iterates(symbols, symbol))
        return symbols->symbols[symbol].depends;
    for (int i = 0; i < symbols->column_count; i++)
        if (symbols->columns[i] == symbol)
            return (uint64_t)1 << i;
    return 0;
}

void rs_symbols_free(rs_symbols *symbols)
{
    for (int i = 0; i < symbols->count; i++)
        free(symbols->symbols[i].name);
    free(symbols->symbols);
    memset(symbols, 0, sizeof *symbols);
}
