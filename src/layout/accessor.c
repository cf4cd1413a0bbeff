/*
 * Accessors for kernels: the walk of layout.c written out as source text for one layout, with the
 * extents left as parameters. P_translate() is the address translation of Tseng 2014 (equations 1
 * and 2) for any layout.
 *
 * Tiles and the record's constants become literals, so that a compiler turns them into shifts and
 * masks. Every product begins with a 64-bit variable, so literals may be 32 bits wide.
 */
#include "layout/accessor.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *heading;    /* what the text needs before it */
    const char *word;       /* the unsigned 64-bit type */
    const char *product;    /* the signed one, for products of 32-bit numbers */
    const char *qualifiers; /* of the functions */
    const char *wide;       /* the suffix of literals beyond 32 bits */
} dialect;

static const dialect dialects[] = {
    [RESTRIDE_DIALECT_C] = {"#include <stdint.h>\n\n", "uint64_t", "int64_t", "static inline",
                            "ull"},
    [RESTRIDE_DIALECT_OPENCL_C] = {"", "ulong", "long", "static inline __attribute__((unused))",
                                   "ul"},
    [RESTRIDE_DIALECT_CUDA_C] = {"", "unsigned long long", "long long",
                                 "static __host__ __device__ inline __attribute__((unused))",
                                 "ull"},
};

/* How many indices agree with the element in all terms passed so far, as an operand of a product.
 */
typedef enum { SPAN_EXTENT, SPAN_RAGGED, SPAN_LITERAL, SPAN_QUOTIENT } span_kind;

typedef struct {
    int level;        /* terms passed */
    span_kind span;   /* SPAN_RAGGED: a variable of this level */
    size_t literal;   /* SPAN_LITERAL: the value; SPAN_QUOTIENT: the extent is divided by it */
    bool declared;    /* SPAN_RAGGED: its declaration was written */
    bool rounded;     /* the padded extent was declared */
    bool extent_used; /* as a parameter of the function */
} dimension_state;

typedef struct {
    const restride_layout *layout;
    const dialect *dialect;
    const char *prefix;
    bool narrow; /* extents and indices are of 32 bits, with a sign; products still of 64 */
    dimension_state state[RS_LAYOUT_MAX_RANK];
    bool field_passed;
    bool field_size_used;
    rs_text lines; /* declarations */
    rs_text sum;   /* the offset */
} writer;

static void add_literal(const writer *w, rs_text *text, size_t value)
{
    rs_text_format(text, "%zu%s", value,
                   w->narrow ? "" : (value > UINT32_MAX ? w->dialect->wide : "u"));
}

/* The type of extents and indices. */
static const char *index_word(const writer *w)
{
    return w->narrow ? "int" : w->dialect->word;
}

/* Writes the extent of a dimension, rounded up when it is padded; declares what that needs. */
static void add_extent(writer *w, rs_text *text, int d)
{
    const rs_dimension *dimension = &w->layout->dimensions[d];
    dimension_state *state = &w->state[d];
    state->extent_used = true;
    if (dimension->pad == 1) {
        rs_text_format(text, "extent_%s", dimension->name);
        return;
    }
    rs_text_format(text, "padded_%s", dimension->name);
    if (state->rounded)
        return;
    state->rounded = true;
    rs_text_format(&w->lines, "    const %s padded_%s = (extent_%s + ", w->dialect->word,
                   dimension->name, dimension->name);
    add_literal(w, &w->lines, dimension->pad - 1);
    rs_text_add_string(&w->lines, ") / ");
    add_literal(w, &w->lines, dimension->pad);
    rs_text_add_string(&w->lines, " * ");
    add_literal(w, &w->lines, dimension->pad);
    rs_text_add_string(&w->lines, ";\n");
}

/* Declares the length of the tile that starts at start<level>_d: shorter at the ragged end. */
static void declare_ragged_span(writer *w, int d)
{
    dimension_state *state = &w->state[d];
    const char *name = w->layout->dimensions[d].name;
    rs_text extent = RS_TEXT_EMPTY;
    add_extent(w, &extent, d);
    const char *text = extent.failed ? "" : extent.data;
    rs_text_format(&w->lines, "    const %s span%d_%s = %s - start%d_%s < ", index_word(w),
                   state->level, name, text, state->level, name);
    add_literal(w, &w->lines, state->literal);
    rs_text_format(&w->lines, " ? %s - start%d_%s : ", text, state->level, name);
    add_literal(w, &w->lines, state->literal);
    rs_text_add_string(&w->lines, ";\n");
    w->lines.failed = w->lines.failed || extent.failed;
    rs_text_free(&extent);
    state->declared = true;
}

/* Multiplies the sum's last product by the span of dimension `d`. */
static void multiply_by_span(writer *w, int d)
{
    dimension_state *state = &w->state[d];
    switch (state->span) {
    case SPAN_LITERAL:
        if (state->literal == 1)
            return;
        rs_text_add_string(&w->sum, " * ");
        add_literal(w, &w->sum, state->literal);
        return;
    case SPAN_RAGGED:
        if (!state->declared)
            declare_ragged_span(w, d);
        rs_text_format(&w->sum, " * span%d_%s", state->level, w->layout->dimensions[d].name);
        return;
    case SPAN_EXTENT:
        rs_text_add_string(&w->sum, " * ");
        add_extent(w, &w->sum, d);
        return;
    case SPAN_QUOTIENT:
        rs_text_add_string(&w->sum, " * (");
        add_extent(w, &w->sum, d);
        rs_text_add_string(&w->sum, " / ");
        add_literal(w, &w->sum, state->literal);
        rs_text_add_string(&w->sum, ")");
        return;
    }
}

static void multiply_by_other_spans(writer *w, int d)
{
    for (int other = 0; other < w->layout->rank; other++)
        if (other != d && other != w->layout->record)
            multiply_by_span(w, other);
}

static void multiply_by_weight(writer *w)
{
    const restride_layout *layout = w->layout;
    if (layout->record < 0)
        return;
    if (w->field_passed) {
        rs_text_add_string(&w->sum, " * field_size");
        w->field_size_used = true;
        return;
    }
    rs_text_add_string(&w->sum, " * ");
    add_literal(w, &w->sum, layout->dimensions[layout->record].record.size);
}

/* A term of a dimension whose terms descend: counts the indices between two starts. */
static void write_descending(writer *w, const rs_term *term)
{
    int d = term->dimension;
    const rs_dimension *dimension = &w->layout->dimensions[d];
    dimension_state *state = &w->state[d];
    const char *name = dimension->name;
    if (term->divisor > 1) {
        rs_text_format(&w->lines, "    const %s start%d_%s = index_%s ", index_word(w),
                       state->level + 1, name, name);
        if (w->narrow && (term->divisor & (term->divisor - 1)) == 0)
            rs_text_format(&w->lines, "& ~%zu;\n", term->divisor - 1); /* % has to mind signs */
        else {
            rs_text_format(&w->lines, "- index_%s %% ", name);
            add_literal(w, &w->lines, term->divisor);
            rs_text_add_string(&w->lines, ";\n");
        }
    }
    if (w->narrow)
        rs_text_format(&w->sum, "(%s)", w->dialect->product);
    rs_text_add_string(&w->sum, state->level > 0 ? "(" : "");
    if (term->divisor > 1)
        rs_text_format(&w->sum, "start%d_%s", state->level + 1, name);
    else
        rs_text_format(&w->sum, "index_%s", name);
    if (state->level > 0)
        rs_text_format(&w->sum, " - start%d_%s)", state->level, name);
    multiply_by_other_spans(w, d);
    multiply_by_weight(w);
    state->level++;
    state->span =
        term->divisor == 1 || dimension->pad % term->divisor == 0 ? SPAN_LITERAL : SPAN_RAGGED;
    state->literal = term->divisor;
    state->declared = false;
}

/* The product of the values that the terms of dimension `d` behind term `t` can take; 0 when the
 * top is among them. */
static size_t remaining_values(const restride_layout *layout, int t, int d)
{
    size_t product = 1;
    for (int later = t + 1; later < layout->term_count; later++)
        if (layout->terms[later].dimension == d)
            product *= layout->terms[later].modulus;
    return product;
}

/* A term of a dimension whose terms come in another order: its tiles divide it, so values are
 * digits. */
static void write_digit(writer *w, int t)
{
    const rs_term *term = &w->layout->terms[t];
    int d = term->dimension;
    dimension_state *state = &w->state[d];
    rs_text_format(&w->sum, "index_%s", w->layout->dimensions[d].name);
    if (term->divisor > 1) {
        rs_text_add_string(&w->sum, " / ");
        add_literal(w, &w->sum, term->divisor);
    }
    if (term->modulus > 0) {
        rs_text_add_string(&w->sum, " % ");
        add_literal(w, &w->sum, term->modulus);
    }
    size_t remaining = remaining_values(w->layout, t, d);
    if (remaining > 0) {
        state->span = SPAN_LITERAL;
        state->literal = remaining;
    } else {
        state->literal = (state->span == SPAN_QUOTIENT ? state->literal : 1) * term->modulus;
        state->span = SPAN_QUOTIENT;
    }
    multiply_by_span(w, d);
    multiply_by_other_spans(w, d);
    multiply_by_weight(w);
}

static void write_terms(writer *w)
{
    const restride_layout *layout = w->layout;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (t > 0)
            rs_text_add_string(&w->sum, " +\n           ");
        if (term->dimension == layout->record) {
            rs_text_add_string(&w->sum, "field_offset");
            multiply_by_other_spans(w, term->dimension);
            w->field_passed = true;
        } else if (layout->dimensions[term->dimension].descending) {
            write_descending(w, term);
        } else {
            write_digit(w, t);
        }
    }
}

/* Writes PREFIX and the name of each non-record dimension, separated by commas. */
static void list_names(const writer *w, rs_text *text, const char *prefix, const char **separator)
{
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record) {
            rs_text_format(text, "%s%s%s", *separator, prefix, w->layout->dimensions[d].name);
            *separator = ", ";
        }
}

static void write_offset(writer *w, rs_text *out)
{
    const restride_layout *layout = w->layout;
    const char *word = w->dialect->word, *separator = "";
    const char *index = index_word(w);
    rs_text parameter = RS_TEXT_EMPTY;
    rs_text_format(out, "/* Where the element lies, in %s from the start of the array. */\n",
                   layout->record >= 0 ? "bytes" : "elements");
    rs_text_format(out, "%s %s %s_offset(", w->dialect->qualifiers, word, w->prefix);
    rs_text_format(&parameter, "%s extent_", index);
    list_names(w, out, parameter.failed ? "" : parameter.data, &separator);
    out->failed = out->failed || parameter.failed;
    rs_text_free(&parameter);
    rs_text_format(&parameter, "%s index_", index);
    list_names(w, out, parameter.failed ? "" : parameter.data, &separator);
    out->failed = out->failed || parameter.failed;
    rs_text_free(&parameter);
    if (layout->record >= 0)
        rs_text_format(out, "%s%s field_offset, %s field_size", separator, word, word);
    rs_text_add_string(out, ")\n{\n");
    write_terms(w);
    out->failed = out->failed || w->lines.failed || w->sum.failed;
    if (out->failed)
        return;
    rs_text_add(out, w->lines.data, w->lines.size);
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record && !w->state[d].extent_used)
            rs_text_format(out, "    (void)extent_%s;\n", layout->dimensions[d].name);
    if (layout->record >= 0 && !w->field_size_used)
        rs_text_add_string(out, "    (void)field_size;\n");
    rs_text_format(out, "    return %s;\n}\n\n", w->sum.data);
}

/* Whether each member lies at a multiple of its size, in every layout. */
static bool is_indexable(const restride_layout *layout)
{
    if (layout->record < 0)
        return true;
    const rs_record *record = &layout->dimensions[layout->record].record;
    for (size_t i = 0; i < record->leaf_count; i++)
        if (record->leaves[i].offset % record->leaves[i].size != 0 ||
            record->size % record->leaves[i].size != 0)
            return false;
    return true;
}

static void write_macro(const writer *w, rs_text *out)
{
    if (!is_indexable(w->layout))
        return;
    const char *separator = ", ";
    bool record = w->layout->record >= 0;
    rs_text_add_string(out, "/* The element itself, to be read or assigned; TYPE carries "
                            "qualifiers and address space. */\n");
    rs_text_format(out, "#define %s_AT(TYPE, base", w->prefix);
    list_names(w, out, "extent_", &separator);
    list_names(w, out, "index_", &separator);
    /* A leaf's offset is a multiple of its size, so indexing by TYPE needs no pointer to bytes, and
     * the pointer keeps what the compiler knows about it. */
    rs_text_format(out, "%s) \\\n    (((TYPE *)(base))[%s_offset(", record ? ", field_offset" : "",
                   w->prefix);
    separator = "";
    list_names(w, out, "extent_", &separator);
    list_names(w, out, "index_", &separator);
    if (record)
        rs_text_format(out, "%sfield_offset, sizeof(TYPE)) / sizeof(TYPE)])\n\n", separator);
    else
        rs_text_add_string(out, ")])\n\n");
}

/* Declares the indices of the dimensions from `first` to `last` from their combined index `from`.
 */
static void declare_indices(const writer *w, rs_text *out, int first, int last, const char *from)
{
    const char *word = w->dialect->word;
    char *above = NULL;
    for (int d = last; d >= first; d--) {
        const char *name = w->layout->dimensions[d].name;
        const char *rest = above == NULL ? from : above;
        if (d == first) {
            rs_text_format(out, "    const %s index_%s = %s;\n", word, name, rest);
            break;
        }
        rs_text_format(out, "    const %s above_%s = %s / extent_%s;\n", word, name, rest, name);
        rs_text_format(out, "    const %s index_%s = %s - above_%s * extent_%s;\n", word, name,
                       rest, name, name);
        rs_text next = RS_TEXT_EMPTY;
        rs_text_format(&next, "above_%s", name);
        free(above);
        above = rs_text_take(&next);
        out->failed = out->failed || above == NULL;
    }
    free(above);
}

/* Declares field_offset and field_size of the leaf that covers `byte`; leaves of one size form one
 * case. */
static void declare_field(const writer *w, rs_text *out, const rs_record *record)
{
    rs_text_format(out, "    %s field_offset, field_size;\n    ", w->dialect->word);
    size_t next;
    for (size_t first = 0; first < record->leaf_count; first = next) {
        const rs_leaf *leaf = &record->leaves[first];
        for (next = first + 1; next < record->leaf_count; next++)
            if (record->leaves[next].size != leaf->size)
                break;
        if (next < record->leaf_count) {
            rs_text_add_string(out, "if (byte < ");
            add_literal(w, out, record->leaves[next].offset);
            rs_text_add_string(out, ") ");
        }
        rs_text_add_string(out, "{\n        field_size = ");
        add_literal(w, out, leaf->size);
        rs_text_add_string(out, ";\n        field_offset = byte - ");
        if (leaf->offset % leaf->size == 0) {
            rs_text_add_string(out, "byte % ");
        } else {
            rs_text_add_string(out, "(byte - ");
            add_literal(w, out, leaf->offset);
            rs_text_add_string(out, ") % ");
        }
        add_literal(w, out, leaf->size);
        rs_text_add_string(out, next < record->leaf_count ? ";\n    } else " : ";\n    }\n");
    }
}

/* The part of P_translate() that takes an offset apart when dimension `r` is a record. */
static void take_apart_record(const writer *w, rs_text *out, int r)
{
    const restride_layout *layout = w->layout;
    const char *word = w->dialect->word;
    const rs_record *record = &layout->dimensions[r].record;
    bool faster = r + 1 < layout->rank;
    if (faster) {
        rs_text_format(out, "    const %s faster = extent_%s", word,
                       layout->dimensions[r + 1].name);
        for (int d = r + 2; d < layout->rank; d++)
            rs_text_format(out, " * extent_%s", layout->dimensions[d].name);
        rs_text_add_string(out, ";\n");
    }
    if (r > 0) {
        rs_text_format(out, "    const %s stride = %s", word, faster ? "faster * " : "");
        add_literal(w, out, record->size);
        rs_text_format(out, ";\n    const %s record = offset / stride;\n", word);
        rs_text_format(out, "    const %s rest = offset - record * stride;\n", word);
    } else {
        rs_text_format(out, "    const %s rest = offset;\n", word);
    }
    rs_text_format(out, "    const %s byte = rest%s;\n", word, faster ? " / faster" : "");
    declare_field(w, out, record);
    if (faster) {
        rs_text_format(out, "    const %s behind = rest - field_offset * faster;\n", word);
        rs_text_format(out, "    const %s within = behind %% field_size;\n", word);
        declare_indices(w, out, r + 1, layout->rank - 1, "(behind / field_size)");
    } else {
        rs_text_format(out, "    const %s within = rest - field_offset;\n", word);
    }
    declare_indices(w, out, 0, r - 1, "record");
}

static void write_translate(const writer *w, rs_text *out)
{
    const restride_layout *layout = w->layout;
    const char *word = w->dialect->word, *separator = "";
    bool record = layout->record >= 0;
    rs_text parameter = RS_TEXT_EMPTY;
    rs_text_add_string(out, "/* From an offset in row-major order (AoS) to the same place in this "
                            "layout. */\n");
    rs_text_format(out, "%s %s %s_translate(", w->dialect->qualifiers, word, w->prefix);
    rs_text_format(&parameter, "%s extent_", word);
    list_names(w, out, parameter.failed ? "" : parameter.data, &separator);
    out->failed = out->failed || parameter.failed;
    rs_text_free(&parameter);
    rs_text_format(out, "%s%s offset)\n{\n", separator, word);
    if (record)
        take_apart_record(w, out, layout->record);
    else
        declare_indices(w, out, 0, layout->rank - 1, "offset");
    rs_text_format(out, "    return %s_offset(", w->prefix);
    separator = "";
    list_names(w, out, "extent_", &separator);
    list_names(w, out, "index_", &separator);
    if (record)
        rs_text_format(out, "%sfield_offset, field_size) + within;\n}\n", separator);
    else
        rs_text_add_string(out, ");\n}\n");
}

/* A leaf's name as part of an identifier: "inner[1].x" becomes "inner_1_x". */
static char *flatten_name(const char *name)
{
    char *flat = strdup(name);
    if (flat == NULL)
        return NULL;
    size_t length = 0;
    for (const char *c = name; *c != '\0'; c++)
        if (*c != ']')
            flat[length++] = *c == '[' || *c == '.' ? '_' : *c;
    flat[length] = '\0';
    return flat;
}

static bool is_taken(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] != NULL && strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Defines the byte offset of each leaf. A name that is taken (v_2 beside v[2]) gets underscores
 * until it is not. */
static void write_constants(const writer *w, rs_text *out)
{
    if (w->layout->record < 0)
        return;
    const rs_record *record = &w->layout->dimensions[w->layout->record].record;
    char **names = calloc(record->leaf_count, sizeof *names);
    out->failed = out->failed || names == NULL;
    for (size_t i = 0; !out->failed && i < record->leaf_count; i++) {
        if (record->leaves[i].padding)
            continue;
        rs_text name = RS_TEXT_EMPTY;
        char *flat = flatten_name(record->leaves[i].name);
        rs_text_add_string(&name, flat == NULL ? "" : flat);
        while (!name.failed && is_taken(names, i, name.data))
            rs_text_add_string(&name, "_");
        names[i] = flat == NULL ? NULL : rs_text_take(&name);
        free(flat);
        rs_text_free(&name);
        if (names[i] == NULL) {
            out->failed = true;
            break;
        }
        rs_text_format(out, "#define %s_%s_OFFSET ", w->prefix, names[i]);
        add_literal(w, out, record->leaves[i].offset);
        rs_text_add_string(out, "\n");
    }
    for (size_t i = 0; names != NULL && i < record->leaf_count; i++)
        free(names[i]);
    free(names);
    rs_text_add_string(out, "\n");
}

static bool is_identifier(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    bool digit_first = name[0] >= '0' && name[0] <= '9';
    return name[0] != '\0' && !digit_first && name[strspn(name, allowed)] == '\0';
}

/* Digits are quotients of their own, and padding and records need none of this. */
static bool can_be_narrow(const restride_layout *layout)
{
    if (layout->record >= 0)
        return false;
    for (int d = 0; d < layout->rank; d++)
        if (!layout->dimensions[d].descending || layout->dimensions[d].pad != 1)
            return false;
    for (int t = 0; t < layout->term_count; t++)
        if (layout->terms[t].divisor > INT32_MAX)
            return false;
    return true;
}

void rs_layout_write_offset(const restride_layout *layout, restride_dialect which,
                            const char *prefix, bool narrow, rs_text *out)
{
    dialect alone = dialects[which];
    if (which == RESTRIDE_DIALECT_C) { /* no header stands before it */
        alone.word = "unsigned long long";
        alone.product = "long long";
    }
    writer w = {.layout = layout,
                .dialect = &alone,
                .prefix = prefix,
                .narrow = narrow && can_be_narrow(layout)};
    rs_text_format(out, "/* Made by Restride: the layout \"%s\". */\n", layout->expression_text);
    write_offset(&w, out);
    rs_text_free(&w.lines);
    rs_text_free(&w.sum);
}

static void write_functions(const restride_layout *layout, const dialect *which, const char *prefix,
                            rs_text *out)
{
    writer w = {.layout = layout, .dialect = which, .prefix = prefix};
    rs_text_format(out, "/* Made by Restride: the layout \"%s\" of \"%s\". */\n\n%s",
                   layout->expression_text, layout->dims_text, which->heading);
    write_constants(&w, out);
    write_offset(&w, out);
    write_macro(&w, out);
    write_translate(&w, out);
    rs_text_free(&w.lines);
    rs_text_free(&w.sum);
}

restride_status restride_layout_accessor(const restride_layout *layout, restride_dialect which,
                                         const char *prefix, char **source)
{
    if (source != NULL)
        *source = NULL;
    if (layout == NULL || source == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "An accessor needs a layout and a place for its source.");
    const bool is_class = which == RESTRIDE_DIALECT_CPP || which == RESTRIDE_DIALECT_CUDA_CPP;
    if (!is_class && (unsigned)which >= sizeof dialects / sizeof dialects[0])
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Dialect %d is unknown; use one of restride_dialect.", (int)which);
    if (prefix == NULL || !is_identifier(prefix))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The prefix \"%.100s\" is not a C identifier; use letters, digits and "
                       "underscores, a letter first.",
                       prefix == NULL ? "" : prefix);
    rs_text out = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    if (is_class)
        status = rs_layout_write_class(layout, which == RESTRIDE_DIALECT_CUDA_CPP, prefix, &out);
    else
        write_functions(layout, &dialects[which], prefix, &out);
    *source = rs_text_take(&out);
    if (status != RESTRIDE_OK) {
        free(*source);
        *source = NULL;
        return status;
    }
    return *source != NULL ? RESTRIDE_OK : rs_fail_memory("an accessor's source");
}
