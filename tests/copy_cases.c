#include "copy_cases.h"
#include "cmocka_all.h"
#include "layout/generate.h"
#include "layout/layout.h"
#include "transpose/reference.h"

#include <stdio.h>
#include <string.h>

#define SIX_MEMBERS "f{ float x; double m; char kind; short age; float v[3]; char[12] name; }"

const copy_case copy_cases[] = {
    {"y:1 x:1", "y x", "x y", 4, ""},
    {"y:300 x:500", "y x", "y x", 4, ""},
    {"y:300 x:500", "y x", "x y", 4, ""},
    {"y:301 x:503", "y x", "x y", 1, ""},
    {"y:512 x:256", "y x", "x y", 1, ""},
    {"y:130 x:260", "y x", "x y", 2, ""},
    {"y:131 x:259", "y x", "x y", 2, ""},
    {"y:97 x:89", "y x", "x y", 12, ""},
    {"y:97 x:89", "y x", "x y", 16, ""},
    {"y:97 x:89", "y x", "x y", 8, ""},
    {"y:3 x:20000", "y x", "x y", 4, ""},
    {"y:20000 x:3", "y x", "x y", 8, ""},
    {"a:16 b:33 c:16 d:64", "a b c d", "a c b d", 2, ""},
    {"a:9 b:8 c:7 d:6 e:5 f:4", "a b c d e f", "f e d c b a", 4, ""},
    {"a:51 b:60 c:70", "a b c", "b a c", 4, ""},
    {"a:51 b:60 c:70", "a b c", "c a b", 4, ""},
    {"a:2 b:2 c:70000", "a b c", "b a c", 4, ""},
    /* one index, then records: AoS, SoA, ASTA */
    {"i:5003 f:5", "i f", "f i", 4, ""},
    {"i:5003 f:18", "i f", "f i", 8, ""},
    {"i:5003 f:16", "i f", "f i", 4, ""},
    {"i:5003 f:5", "f i", "i/32 f i%32", 4, ""},
    {"i:5003 f:5", "i f", "i/32 f i%32", 4, ""},
    {"i:5003 f:5", "i/32 f i%32", "i f", 4, ""},
    {"i:5003 f:5", "i/64 f i%64", "i/32 f i%32", 4, ""},
    {"i:2003 " SIX_MEMBERS, "i f", "f i", 0, ""},
    {"i:2003 " SIX_MEMBERS, "f i", "i f", 0, ""},
    {"i:2003 " SIX_MEMBERS, "i f", "i/32 f i%32", 0, ""},
    {"i:2003 " SIX_MEMBERS, "i/32 f i%32", "i f", 0, ""},
    {"i:2003 " SIX_MEMBERS, "f i", "i/32 f i%32", 0, ""},
    {"i:2003 " SIX_MEMBERS, "i/32 f i%32", "f i", 0, ""},
    {"i:2003 " SIX_MEMBERS, "i f", "i f", 0, ""},
    {"i:1 " SIX_MEMBERS, "i f", "f i", 0, ""},
    {"y:40 x:50 " SIX_MEMBERS, "y x f", "x y f", 0, ""},
    {"y:40 x:50 " SIX_MEMBERS, "y x f", "f x y", 0, ""},
    {"y:40 x:50 " SIX_MEMBERS, "x f y", "y/16 x f y%16", 0, ""},
    {"i:3000 f packed{ char kind; double m; }", "i f", "f i", 0, ""},
    {"i:3000 f packed{ char kind; double m; }", "i/16 f i%16", "i f", 0, ""},
    /* tiles that do not nest */
    {"i:5003 f:5", "i/48 f i%48", "i/32 f i%32", 4, ""},
    {"i:5003 f:5", "i/31 f i%31", "i/32 f i%32", 2, ""},
    {"i:500 " SIX_MEMBERS, "i/7 f i%7", "i/12 f i/4%3 i%4", 0, ""},
    {"i:50 f:5", "i/48 f i%48", "i/32 f i%32", 4, ""},
    {"i:5760 f:3", "i/192 i%48 f i/48%4", "i/32 f i%32", 4, ""},
    /* padding */
    {"i:5003 f:5", "i f", "i/32:pad f i%32", 4, ""},
    {"i:5003 f:5", "i/32:pad f i%32", "f i", 4, ""},
    {"i:5003 " SIX_MEMBERS, "i/32:pad f i%32", "f i", 0, ""},
    {"i:100 f:5", "i/48:pad f i%48", "i/32:pad f i%32", 4, ""},
    {"i:96 f:5", "i%4 f i/4", "i/64:pad f i%64", 4, ""},
    /* tiled grids */
    {"y:100 x:300 e:3", "y x e", "y/32 x/128 e y%32 x%128", 4, ""},
    {"y:100 x:300 e:3", "e x y", "y/32 x/128 e y%32 x%128", 2, ""},
};
const size_t copy_case_count = sizeof copy_cases / sizeof copy_cases[0];

void copy_case_fail(const copy_case *c, const char *why)
{
    fail_msg("\"%s\": \"%s\" to \"%s\", %zu bytes: %s", c->dims, c->from, c->to, c->unit, why);
}

static void keep(copy_case *c, const char *dims, const char *from, const char *to, size_t unit)
{
    snprintf(c->texts, sizeof c->texts, "%s%c%s%c%s", dims, 0, from, 0, to);
    c->dims = c->texts;
    c->from = c->dims + strlen(c->dims) + 1;
    c->to = c->from + strlen(c->from) + 1;
    c->unit = unit;
}

void copy_case_random(copy_case *c, uint64_t *seed)
{
    static const size_t units[] = {1, 2, 4, 8, 12, 3, 16, 48};
    made_layout from;
    made_layout to;
    make_layout(&from, seed);
    make_another(&to, &from, seed);
    keep(c, from.dims, from.expression, to.expression,
         from.record >= 0 ? 0 : units[made_random(seed, 8)]);
}

void copy_case_random_tensor(copy_case *c, uint64_t *seed, size_t most)
{
    enum { MOST_RANK = 6 };
    char dims[200] = "";
    char from[40] = "";
    char to[40] = "";
    size_t rank = 1 + made_random(seed, MOST_RANK);
    size_t left = 1 + made_random(seed, most);
    size_t order[MOST_RANK];
    for (size_t i = 0; i < rank; i++) {
        size_t limit = rank < 3 ? 700 : rank < 5 ? 90 : 24;
        size_t extent = 1 + made_random(seed, left < limit ? left : limit);
        left = left / extent > 0 ? left / extent : 1;
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%c:%zu", i > 0 ? " " : "",
                 (char)('a' + i), extent);
        snprintf(from + strlen(from), sizeof from - strlen(from), "%s%c", i > 0 ? " " : "",
                 (char)('a' + i));
        size_t other = made_random(seed, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < rank; i++)
        snprintf(to + strlen(to), sizeof to - strlen(to), "%s%c", i > 0 ? " " : "",
                 (char)('a' + order[i]));
    keep(c, dims, from, to, 1 + made_random(seed, 48));
}

static restride_layout *parse(const copy_case *c, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, c->dims, expression) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    return layout;
}

copy_arrays copy_case_sizes(const copy_case *c)
{
    restride_layout *from = parse(c, c->from);
    restride_layout *to = parse(c, c->to);
    size_t scale = c->unit != 0 ? c->unit : 1;
    const copy_arrays arrays = {restride_layout_size(from) * scale,
                                restride_layout_size(to) * scale};
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return arrays;
}

restride_plan *copy_case_plan(const copy_case *c, restride_engine *engine)
{
    restride_layout *from = parse(c, c->from);
    restride_layout *to = parse(c, c->to);
    restride_plan *plan;
    if (restride_plan_convert_copy(&plan, engine, from, to, c->unit) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return plan;
}

bool copy_case_holds(const copy_case *c, const unsigned char *from, const unsigned char *to)
{
    restride_layout *a = parse(c, c->from);
    restride_layout *b = parse(c, c->to);
    const bool holds = reference_converted(a, b, c->unit, from, to);
    restride_layout_destroy(a);
    restride_layout_destroy(b);
    return holds;
}
