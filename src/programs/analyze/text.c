/* The analysis as text. */
#include "programs/analyze/report.h"

#include <stdio.h>
#include <string.h>

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static long long integer_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static const char *element(const json_t *array, size_t index)
{
    const char *text = json_string_value(json_array_get(array, index));
    return text != NULL ? text : "?";
}

/* Adds the entries of one row whose columns are between threads or, with `within`, are not. */
static void add_entries(rs_text *text, const json_t *entries, const json_t *columns, bool within)
{
    for (size_t i = 0; i < json_array_size(entries); i++)
        if (is_true(json_array_get(columns, i), "between") == !within)
            rs_text_format(text, "%s%s", strchr("[ ", text->data[text->size - 1]) ? "" : " ",
                           element(entries, i));
}

/* "[1 0; 0 N]": columns between threads come first, as add_columns() has them. NULL: all alike. */
static void add_matrix(rs_text *text, const json_t *matrix, const json_t *columns)
{
    rs_text_add_string(text, "[");
    for (size_t row = 0; row < json_array_size(matrix); row++) {
        rs_text_add_string(text, row > 0 ? "; " : "");
        add_entries(text, json_array_get(matrix, row), columns, false);
        add_entries(text, json_array_get(matrix, row), columns, true);
    }
    rs_text_add_string(text, "]");
}

static void add_vector(rs_text *text, const json_t *vector)
{
    rs_text_add_string(text, "[");
    for (size_t i = 0; i < json_array_size(vector); i++)
        rs_text_format(text, "%s%s", i > 0 ? " " : "", element(vector, i));
    rs_text_add_string(text, "]");
}

/* "(global.y global.x | k)": between threads, then within one. */
static void add_columns(rs_text *text, const json_t *columns)
{
    rs_text_add_string(text, "(");
    for (int within = 0; within < 2; within++) {
        rs_text_add_string(text, within ? " |" : "");
        for (size_t i = 0; i < json_array_size(columns); i++) {
            const json_t *column = json_array_get(columns, i);
            if (is_true(column, "between") == !within)
                rs_text_format(text, "%s%s%s", text->data[text->size - 1] == '(' ? "" : " ",
                               is_true(column, "auxiliary") ? "~" : "", string_of(column, "name"));
        }
    }
    rs_text_add_string(text, ")");
}

static void add_reference(rs_text *text, const json_t *r)
{
    rs_text_format(text, "  %5lld  %-5s %s\n         ", integer_of(r, "line"),
                   is_true(r, "atomic") ? "atom"
                   : is_true(r, "read") ? (is_true(r, "write") ? "rw" : "read")
                                        : "write",
                   string_of(r, "text"));
    rs_text_add_string(text, "M ");
    add_matrix(text, json_object_get(r, "matrix"), json_object_get(r, "columns"));
    rs_text_add_string(text, "  o ");
    add_vector(text, json_object_get(r, "offset"));
    rs_text_add_string(text, "  ");
    add_columns(text, json_object_get(r, "columns"));
    rs_text_format(text, "\n         %s%s%s; %s%lld transaction%s a warp\n",
                   string_of(r, "classes"), is_true(r, "approximated") ? " (approximated)" : "",
                   is_true(r, "divided") ? " (flat subscript read by its strides)" : "",
                   is_true(r, "exact") ? "" : "up to ", integer_of(r, "transactions"),
                   integer_of(r, "transactions") == 1 ? "" : "s");
}

static void add_loop(rs_text *text, const json_t *loop)
{
    const char *carried = string_of(loop, "carried");
    rs_text_format(text, "  line %lld: loop %s%s", integer_of(loop, "line"),
                   string_of(loop, "name"),
                   is_true(loop, "thread") ? " (its iterations are threads)" : "");
    if (strcmp(carried, "nothing") == 0) {
        rs_text_add_string(text, ": carries nothing");
    } else {
        rs_text_format(text, ": carries a %s through %s%s", carried, string_of(loop, "what"),
                       is_true(loop, "certain") ? "" : ", perhaps");
        long long first =
            (long long)json_integer_value(json_array_get(json_object_get(loop, "lines"), 0));
        long long last =
            (long long)json_integer_value(json_array_get(json_object_get(loop, "lines"), 1));
        if (first > 0)
            rs_text_format(text, " (lines %lld and %lld)", first, last);
    }
    rs_text_add_string(text, is_true(loop, "early") ? "; can be left early\n" : "\n");
}

static void add_array(rs_text *text, const json_t *array)
{
    static const struct {
        const char *key, *yes, *no;
    } properties[] = {{"written", "written", "read-only"},
                      {"reused", "reused", "not reused"},
                      {"chunkable", "chunkable", "not chunkable"},
                      {"same_address", "same address", ""},
                      {"coalesced", "coalesced", "not coalesced"}};
    rs_text_format(text, "  %s: %s, %lld byte elements", string_of(array, "name"),
                   string_of(array, "type"), integer_of(array, "element"));
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        const char *word = is_true(array, properties[i].key) ? properties[i].yes : properties[i].no;
        rs_text_format(text, "%s%s", word[0] != '\0' ? ", " : "", word);
    }
    if (json_object_get(array, "memory") != NULL)
        rs_text_format(text, "; place: %s memory", string_of(array, "memory"));
    else
        rs_text_format(text, "; is in %s memory", string_of(array, "space"));
    const json_t *advice = json_object_get(array, "advice");
    if (advice != NULL) {
        rs_text_format(text, "\n    layout: --layout '%s: %s'", string_of(array, "name"),
                       string_of(advice, "layout"));
        if (json_object_get(advice, "record") != NULL)
            rs_text_format(text, " --record '%s: %lld'", string_of(array, "name"),
                           integer_of(advice, "record"));
        rs_text_format(text, " (over \"%s\"): %lld transactions instead of %lld",
                       string_of(advice, "dims"), integer_of(advice, "then"),
                       integer_of(advice, "now"));
    }
    const json_t *kept = json_object_get(array, "kept_advice");
    if (kept != NULL)
        rs_text_format(text,
                       "\n    \"%s\" would need %lld transactions instead of %lld, but the "
                       "rewriter keeps it: %s:%lld: %s",
                       string_of(kept, "layout"), integer_of(kept, "then"), integer_of(kept, "now"),
                       string_of(kept, "file"), integer_of(kept, "line"),
                       string_of(kept, "reason"));
    const json_t *parallel = json_object_get(array, "parallel");
    if (json_object_get(parallel, "layout") != NULL)
        rs_text_format(text, "\n    for concurrent accesses: '%s: %s' (over \"%s\")",
                       string_of(array, "name"), string_of(parallel, "layout"),
                       string_of(parallel, "dims"));
    else if (parallel != NULL)
        rs_text_format(text, "\n    no layout for concurrent accesses: %s",
                       string_of(parallel, "reason"));
    rs_text_add_string(text, "\n");
}

static void add_group(rs_text *text, const json_t *unit, const json_t *group)
{
    const json_t *references = json_object_get(unit, "references");
    rs_text_format(text, "  line %lld: vectors %s", integer_of(group, "line"),
                   string_of(group, "verdict"));
    if (json_is_string(json_object_get(group, "target")))
        rs_text_format(text, ", along %s", string_of(group, "target"));
    rs_text_format(text, "; Q_V = %.1f %% (%lld of %lld)",
                   json_real_value(json_object_get(group, "qv")), integer_of(group, "vectorizable"),
                   integer_of(group, "instances"));
    if (json_is_string(json_object_get(group, "reason")))
        rs_text_format(text, "; %s", string_of(group, "reason"));
    rs_text_add_string(text, "\n");
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(group, "rules"), i, rule)
    {
        const json_t *r = json_array_get(references, (size_t)integer_of(rule, "reference"));
        rs_text_format(text, "    %-24s %s  T_m ", string_of(r, "text"), string_of(rule, "rule"));
        add_matrix(text, json_object_get(rule, "matrix"), NULL);
        rs_text_add_string(text, "  t_v ");
        add_vector(text, json_object_get(rule, "shift"));
        rs_text_add_string(text, "\n");
    }
    json_t *left;
    json_array_foreach(json_object_get(group, "left_out"), i, left)
    {
        const json_t *r = json_array_get(references, (size_t)json_integer_value(left));
        rs_text_format(text, "    %-24s stays as it is\n", string_of(r, "text"));
    }
}

static void add_unit(rs_text *text, const json_t *unit)
{
    size_t i;
    json_t *value;
    rs_text_format(text, "\n%s %s, line %lld\n", is_true(unit, "kernel") ? "kernel" : "function",
                   string_of(unit, "name"), integer_of(unit, "line"));
    json_array_foreach(json_object_get(unit, "loops"), i, value) add_loop(text, value);
    rs_text_add_string(text, " references (columns: between threads | within a thread)\n");
    json_array_foreach(json_object_get(unit, "references"), i, value) add_reference(text, value);
    rs_text_add_string(text, " vectors\n");
    json_array_foreach(json_object_get(unit, "groups"), i, value) add_group(text, unit, value);
    rs_text_add_string(text, " arrays\n");
    json_array_foreach(json_object_get(unit, "arrays"), i, value) add_array(text, value);
}

void rs_analysis_text(rs_text *text, const json_t *reply)
{
    size_t i;
    json_t *value;
    rs_text_format(text, "%s (%s)\n", string_of(reply, "file"), string_of(reply, "language"));
    json_array_foreach(json_object_get(reply, "units"), i, value) add_unit(text, value);
    if (json_array_size(json_object_get(reply, "units")) == 0)
        rs_text_add_string(text, "No kernel and no loop that touches an array was found.\n");
}
