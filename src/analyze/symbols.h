/*
 * The names that subscripts are made of: loop indices, thread indices, parameters, and auxiliary
 * symbols that stand for what is not affine (a quotient, a product of two indices, a loaded value).
 */
#ifndef RS_ANALYZE_SYMBOLS_H
#define RS_ANALYZE_SYMBOLS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    RS_SYMBOL_PARAMETER, /* the same in all iterations and threads */
    RS_SYMBOL_LOOP,
    RS_SYMBOL_GROUP,  /* work-group or thread-block index */
    RS_SYMBOL_LOCAL,  /* index inside a work-group */
    RS_SYMBOL_GLOBAL, /* index over all work-groups */
    RS_SYMBOL_AUXILIARY
} rs_symbol_kind;

typedef struct {
    char *name;
    uint64_t hash; /* of the name */
    rs_symbol_kind kind;
    int dimension; /* of thread indices: 0, 1, 2 for x, y, z; -1 otherwise */
    bool size;     /* a parameter that is the extent of a work-group */
    bool used;     /* a reference has an entry for it, or the name of a term has it */
    uint64_t key;  /* of the variable or the loaded number; 0: none */
    bool natural;  /* never negative; thread indices and extents are not either */
    /* Of auxiliary symbols: */
    uint64_t depends; /* the iteration symbols it varies with, one bit a column */
    bool data;        /* it comes from a loaded value */
} rs_symbol;

typedef struct {
    rs_symbol *symbols;
    int count;
    int columns[64]; /* the iteration symbols, in the order they were met */
    int column_count;
} rs_symbols;

uint64_t rs_name_hash(const char *text);
bool rs_symbols_has(const rs_symbols *symbols, const char *name);

/* Finds a symbol or adds it; -1 when memory is short or there are too many iteration symbols. */
int rs_symbols_find(rs_symbols *symbols, const char *name, rs_symbol_kind kind, int dimension);

/*
 * The same for what has a key, a variable that does not change or a loaded number: those of a kind
 * that share a name get numbers.
 */
int rs_symbols_find_keyed(rs_symbols *symbols, const char *name, rs_symbol_kind kind, uint64_t key);

/* The bit of an iteration symbol, what an auxiliary symbol varies with, 0 for parameters. */
uint64_t rs_symbol_depends(const rs_symbols *symbols, int symbol);
bool rs_symbol_iterates(const rs_symbols *symbols, int symbol);

/* Whether it is known never to be negative. */
bool rs_symbol_is_natural(const rs_symbols *symbols, int symbol);

void rs_symbols_free(rs_symbols *symbols);

#endif
