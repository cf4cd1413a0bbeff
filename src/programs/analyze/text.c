/* The analysis as text. */
#include "base/json.h"
#include "console/page.h"
#include "programs/analyze/report.h"

#include <string.h>

static const char *element(const json_t *array, size_t index)
{
    const char *text = json_string_value(json_array_get(array, index));
    return text != NULL ? text : "?";
}

/* Adds the entries of one row whose columns are between threads or, with `within`, are not. */
static void add_entries(rs_text *text, const json_t *entries, const json_t *columns, bool within)
{
    for (size_t i = 0; i < json_array_size(entries); i++)
        if (rs_json_flag_of(json_array_get(columns, i), "between") == !within)
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
            if (rs_json_flag_of(column, "between") == !within)
                rs_text_format(text, "%s%s%s", text->data[text->size - 1] == '(' ? "" : " ",
                               rs_json_flag_of(column, "auxiliary") ? "~" : "",
                               rs_page_string(column, "name"));
        }
    }
    rs_text_add_string(text, ")");
}

static void add_reference(rs_text *text, const json_t *r)
{
    rs_text_format(text, "  %5lld  %-5s %s\n         ", rs_json_integer_of(r, "line"),
                   rs_json_flag_of(r, "atomic") ? "atom"
                   : rs_json_flag_of(r, "read") ? (rs_json_flag_of(r, "write") ? "rw" : "read")
                                                : "write",
                   rs_page_string(r, "text"));
    rs_text_add_string(text, "M ");
    add_matrix(text, json_object_get(r, "matrix"), json_object_get(r, "columns"));
    rs_text_add_string(text, "  o ");
    add_vector(text, json_object_get(r, "offset"));
    rs_text_add_string(text, "  ");
    add_columns(text, json_object_get(r, "columns"));
    rs_text_format(
        text, "\n         %s%s%s; %s%lld transaction%s a warp\n", rs_page_string(r, "classes"),
        rs_json_flag_of(r, "approximated") ? " (approximated)" : "",
        rs_json_flag_of(r, "divided") ? " (flat subscript read by its strides)" : "",
        rs_json_flag_of(r, "exact") ? "" : "up to ", rs_json_integer_of(r, "transactions"),
        rs_json_integer_of(r, "transactions") == 1 ? "" : "s");
}

static void add_loop(rs_text *text, const json_t *loop)
{
    const char *carried = rs_page_string(loop, "carried");
    rs_text_format(text, "  line %lld: loop %s%s", rs_json_integer_of(loop, "line"),
                   rs_page_string(loop, "name"),
                   rs_json_flag_of(loop, "thread") ? " (its iterations are threads)" : "");
    if (strcmp(carried, "nothing") == 0) {
        rs_text_add_string(text, ": carries nothing");
    } else {
        rs_text_format(text, ": carries a %s through %s%s", carried, rs_page_string(loop, "what"),
                       rs_json_flag_of(loop, "certain") ? "" : ", perhaps");
        long long first =
            (long long)json_integer_value(json_array_get(json_object_get(loop, "lines"), 0));
        long long last =
            (long long)json_integer_value(json_array_get(json_object_get(loop, "lines"), 1));
        if (first > 0)
            rs_text_format(text, " (lines %lld and %lld)", first, last);
    }
    rs_text_add_string(text, rs_json_flag_of(loop, "early") ? "; can be left early\n" : "\n");
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
    rs_text_format(text, "  %s: %s, %lld byte elements", rs_page_string(array, "name"),
                   rs_page_string(array, "type"), rs_json_integer_of(array, "element"));
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        const char *word =
            rs_json_flag_of(array, properties[i].key) ? properties[i].yes : properties[i].no;
        rs_text_format(text, "%s%s", word[0] != '\0' ? ", " : "", word);
    }
    if (json_object_get(array, "memory") != NULL)
        rs_text_format(text, "; place: %s memory", rs_page_string(array, "memory"));
    else
        rs_text_format(text, "; is in %s memory", rs_page_string(array, "space"));
    const json_t *advice = json_object_get(array, "advice");
    if (advice != NULL) {
        rs_text_format(text, "\n    layout: --layout '%s: %s'", rs_page_string(array, "name"),
                       rs_page_string(advice, "layout"));
        if (json_object_get(advice, "record") != NULL)
            rs_text_format(text, " --record '%s: %lld'", rs_page_string(array, "name"),
                           rs_json_integer_of(advice, "record"));
        rs_text_format(text, " (over \"%s\"): %lld transactions instead of %lld",
                       rs_page_string(advice, "dims"), rs_json_integer_of(advice, "then"),
                       rs_json_integer_of(advice, "now"));
    }
    const json_t *kept = json_object_get(array, "kept_advice");
    if (kept != NULL)
        rs_text_format(text,
                       "\n    \"%s\" would need %lld transactions instead of %lld, but the "
                       "rewriter keeps it: %s:%lld: %s",
                       rs_page_string(kept, "layout"), rs_json_integer_of(kept, "then"),
                       rs_json_integer_of(kept, "now"), rs_page_string(kept, "file"),
                       rs_json_integer_of(kept, "line"), rs_page_string(kept, "reason"));
    const json_t *parallel = json_object_get(array, "parallel");
    if (json_object_get(parallel, "layout") != NULL)
        rs_text_format(text, "\n    for concurrent accesses: '%s: %s' (over \"%s\")",
                       rs_page_string(array, "name"), rs_page_string(parallel, "layout"),
                       rs_page_string(parallel, "dims"));
    else if (parallel != NULL)
        rs_text_format(text, "\n    no layout for concurrent accesses: %s",
                       rs_page_string(parallel, "reason"));
    rs_text_add_string(text, "\n");
}

static void add_group(rs_text *text, const json_t *unit, const json_t *group)
{
    const json_t *references = json_object_get(unit, "references");
    rs_text_format(text, "  line %lld: vectors %s", rs_json_integer_of(group, "line"),
                   rs_page_string(group, "verdict"));
    if (json_is_string(json_object_get(group, "target")))
        rs_text_format(text, ", along %s", rs_page_string(group, "target"));
    rs_text_format(
        text, "; Q_V = %.1f %% (%lld of %lld)", json_real_value(json_object_get(group, "qv")),
        rs_json_integer_of(group, "vectorizable"), rs_json_integer_of(group, "instances"));
    if (json_is_string(json_object_get(group, "reason")))
        rs_text_format(text, "; %s", rs_page_string(group, "reason"));
    rs_text_add_string(text, "\n");
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(group, "rules"), i, rule)
    {
        const json_t *r = json_array_get(references, (size_t)rs_json_integer_of(rule, "reference"));
        rs_text_format(text, "    %-24s %s  T_m ", rs_page_string(r, "text"),
                       rs_page_string(rule, "rule"));
        add_matrix(text, json_object_get(rule, "matrix"), NULL);
        rs_text_add_string(text, "  t_v ");
        add_vector(text, json_object_get(rule, "shift"));
        rs_text_add_string(text, "\n");
    }
    json_t *left;
    json_array_foreach(json_object_get(group, "left_out"), i, left)
    {
        const json_t *r = json_array_get(references, (size_t)json_integer_value(left));
        rs_text_format(text, "    %-24s stays as it is\n", rs_page_string(r, "text"));
    }
}

static void add_unit(rs_text *text, const json_t *unit)
{
    size_t i;
    json_t *value;
    rs_text_format(text, "\n%s %s, line %lld\n",
                   rs_json_flag_of(unit, "kernel") ? "kernel" : "function",
                   rs_page_string(unit, "name"), rs_json_integer_of(unit, "line"));
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
    rs_text_format(text, "%s (%s)\n", rs_page_string(reply, "file"),
                   rs_page_string(reply, "language"));
    rs_judgement_text(text, reply);
    json_array_foreach(json_object_get(reply, "units"), i, value) add_unit(text, value);
    if (json_array_size(json_object_get(reply, "units")) == 0)
        rs_text_add_string(text, "No kernel and no loop that touches an array was found.\n");
}
