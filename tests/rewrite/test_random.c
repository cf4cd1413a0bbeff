/*
 * Random kernels: random records, and random sequences of understood accesses, directly, through
 * pointers (to nested structures too) and through helpers, in all kinds of control flow, run on a
 * device against the kernel as it was generated. RESTRIDE_TEST_SEED sets where it starts,
 * RESTRIDE_TEST_SECONDS how long it goes on; tools/fuzz_kernels.sh sets both. Work-items write only
 * their own element of `a`, and `b` is only read, so that the order in which they run does not
 * matter.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "device.h"
#include "random_flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRAMS = 8, KERNELS = 5, FLAT_KERNELS = 4, MEMBERS = 5, NESTED_MEMBERS = 2 };

typedef struct {
    const char *type;  /* NULL for the nested structure */
    int lanes;         /* of a vector; 1 for a scalar */
    int rows, columns; /* of an array; 0 for none */
} member;

/* Structure R<k> has these members and may have members of type I<k>. */
typedef struct {
    int count, nested_count;
    member members[MEMBERS], nested[NESTED_MEMBERS];
} record;

static unsigned long long random_state;

int pick(int count)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((random_state >> 33) % (unsigned)count);
}

/* ---- records ---- */

static member random_member(bool may_nest)
{
    static const struct {
        const char *type;
        int lanes;
    } types[] = {{"char", 1}, {"uchar", 1},  {"short", 1},  {"ushort", 1}, {"int", 1},
                 {"uint", 1}, {"long", 1},   {"float", 1},  {"float", 1},  {"double", 1},
                 {"int2", 2}, {"float4", 4}, {"uchar4", 4}, {"float3", 3}, {"ulong", 1}};
    int t = pick(sizeof types / sizeof types[0]);
    member m = {types[t].type, types[t].lanes, 0, 0};
    if (may_nest && pick(5) == 0)
        m = (member){NULL, 1, 0, 0};
    if (pick(4) == 0)
        m.rows = 1 + pick(m.type == NULL ? 2 : 3);
    if (m.rows > 0 && m.type != NULL && pick(3) == 0)
        m.columns = 1 + pick(3);
    return m;
}

static void write_members(rs_text *out, const member *members, int count, const char *nested)
{
    for (int i = 0; i < count; i++) {
        rs_text_format(out, "%s m%d", members[i].type != NULL ? members[i].type : nested, i);
        if (members[i].rows > 0)
            rs_text_format(out, "[%d]", members[i].rows);
        if (members[i].columns > 0)
            rs_text_format(out, "[%d]", members[i].columns);
        rs_text_add_string(out, "; ");
    }
}

static void write_record(rs_text *out, int number, record *r)
{
    r->count = 2 + pick(MEMBERS - 1);
    r->nested_count = 1 + pick(NESTED_MEMBERS);
    for (int i = 0; i < r->nested_count; i++)
        r->nested[i] = random_member(false);
    for (int i = 0; i < r->count; i++)
        r->members[i] = random_member(true);
    char nested[16];
    snprintf(nested, sizeof nested, "struct I%d", number);
    rs_text_format(out, "struct I%d { ", number);
    write_members(out, r->nested, r->nested_count, "");
    rs_text_format(out, "};\ntypedef struct { ");
    write_members(out, r->members, r->count, nested);
    rs_text_format(out, "} R%d;\n", number);
}

/* ---- expressions ---- */

static void write_value(rs_text *out, const record *r, int depth);

/* An index below `limit`, from whatever is at hand. */
static void write_subscript(rs_text *out, const record *r, int limit, int depth)
{
    if (pick(2) == 0) {
        rs_text_format(out, "[%d]", pick(limit));
        return;
    }
    rs_text_add_string(out, "[(uint)(");
    write_value(out, r, depth - 1);
    rs_text_format(out, ") %% %du]", limit);
}

/* Element `index` of buffer "a" or "b" (format: index, buffer); `p` and `at` are made by
 * random_program(). */
static const char *const element_forms[] = {"%2$s[%1$s]",
                                            "(%2$s)[(%1$s)]",
                                            "(*(%2$s + %1$s))",
                                            "((%2$s + %1$s))[0]",
                                            "(%2$s + n)[(%1$s) - n]",
                                            "(*(%2$s - (-(%1$s))))",
                                            "p%2$s[(%1$s) - 2]",
                                            "(*(i %% 2 ? %2$s + (%1$s) : &p%2$s[(%1$s) - 2]))",
                                            "(&%2$s[n])[(%1$s) - n]",
                                            "(*at%2$s(%2$s, %1$s))",
                                            "at%2$s(p%2$s, 1)[(%1$s) - 3]"};
static const char *const arrow_forms[] = {
    "(%2$s + (%1$s))->", "(%2$s + 1 + (%1$s) - 1)->", "(p%2$s + (%1$s) - 2)->",
    "(&%2$s[%1$s])->",   "at%2$s(%2$s, %1$s)->",      "(p%2$s = %2$s + 2, p%2$s - 2 + (%1$s))->"};

/* An element of a buffer, up to "." or "->" of a member. */
static void write_element(rs_text *out, const char *buffer, const char *index, bool whole)
{
    enum {
        ELEMENT_FORMS = sizeof element_forms / sizeof element_forms[0],
        ARROW_FORMS = sizeof arrow_forms / sizeof arrow_forms[0]
    };
    int form = pick(whole ? ELEMENT_FORMS : ELEMENT_FORMS + ARROW_FORMS);
    rs_text_format(out,
                   form < ELEMENT_FORMS ? element_forms[form] : arrow_forms[form - ELEMENT_FORMS],
                   index, buffer);
    if (!whole && form < ELEMENT_FORMS)
        rs_text_add_string(out, ".");
}

static const member *write_path(rs_text *out, const record *r, int depth)
{
    int at = pick(r->count);
    const member *m = &r->members[at];
    rs_text_format(out, "m%d", at);
    if (m->rows > 0)
        write_subscript(out, r, m->rows, depth);
    if (m->columns > 0)
        write_subscript(out, r, m->columns, depth);
    if (m->type == NULL) {
        at = pick(r->nested_count);
        m = &r->nested[at];
        rs_text_format(out, ".m%d", at);
        if (m->rows > 0)
            write_subscript(out, r, m->rows, depth);
        if (m->columns > 0)
            write_subscript(out, r, m->columns, depth);
    }
    return m;
}

static void write_lane(rs_text *out, const member *m)
{
    if (m->lanes > 1)
        rs_text_format(out, ".%c", "xyzw"[pick(m->lanes)]);
}

/* A small int: a constant, the index, or something read from an element. */
static void write_value(rs_text *out, const record *r, int depth)
{
    int kind = depth <= 0 ? pick(2) : pick(7);
    if (kind == 0) {
        rs_text_format(out, "%d", pick(100));
    } else if (kind == 1) {
        rs_text_add_string(out, "i");
    } else if (kind == 2) {
        rs_text_add_string(out, "(");
        write_value(out, r, depth - 1);
        rs_text_format(out, " %s ", &"+\0-\0^\0&"[2 * pick(4)]);
        write_value(out, r, depth - 1);
        rs_text_add_string(out, ")");
    } else {
        rs_text_add_string(out, "((int)");
        if (pick(2) == 0) {
            write_element(out, "a", "i", false);
        } else {
            rs_text index = RS_TEXT_EMPTY;
            rs_text_add_string(&index, "(int)((uint)(");
            write_value(&index, r, depth - 2);
            rs_text_add_string(&index, ") % (uint)n)");
            if (index.size < 300)
                write_element(out, "b", index.data, false);
            else
                write_element(out, "b", "n - 1 - i", false);
            rs_text_free(&index);
        }
        write_lane(out, write_path(out, r, depth - 1));
        rs_text_add_string(out, " & 1023)");
    }
}

/* A member that is a nested structure, with its subscripts; false when the record has none. */
static bool write_nested(rs_text *out, const record *r)
{
    int nested[MEMBERS], count = 0;
    for (int i = 0; i < r->count; i++)
        if (r->members[i].type == NULL)
            nested[count++] = i;
    if (count == 0)
        return false;
    int at = nested[pick(count)];
    rs_text_format(out, "m%d", at);
    if (r->members[at].rows > 0)
        rs_text_format(out, "[%d]", pick(r->members[at].rows));
    if (r->members[at].columns > 0)
        rs_text_format(out, "[%d]", pick(r->members[at].columns));
    return true;
}

/* What is done with a nested structure of the work-item's own element. */
static void write_nested_statement(rs_text *out, const record *r, int number)
{
    rs_text place = RS_TEXT_EMPTY;
    if (write_nested(&place, r)) {
        switch (pick(4)) {
        case 0:
            rs_text_format(out, "touch%d(&a[i].%s, i)", number, place.data);
            break;
        case 1:
            rs_text_format(out, "{ global struct I%d *q = &pa[i - 2].%s; touch%d(q, 3); }", number,
                           place.data, number);
            break;
        case 2:
            rs_text_format(out, "{ struct I%d t = b[i].%s; a[i].%s = t; }", number, place.data,
                           place.data);
            break;
        default:
            rs_text_format(out, "{ global struct I%d *q = &a[i].%s; struct I%d t = *q; *q = t; }",
                           number, place.data, number);
        }
    }
    rs_text_free(&place);
}

static void write_statement(rs_text *out, const record *r, int number);

static void write_control_flow(rs_text *out, const record *r, int number)
{
    /* LLVM 14 and 15 read another byte where a count takes only two bits of a vector's lane. */
    static const char *const forms[][2] = {
        {"for (int j%d = 0; j%d < 1 + (", " * 3 >> 10); j%d++) {\n"},
        {"switch (", " & 1) {\n  case 0:\n"},
        {"{ int j%d = 1 + (", " * 3 >> 10); do {\n"},
        {"{ int j%d = 1 + (", " * 3 >> 10); while (j%d-- > 0) {\n"}};
    static int depth, names;
    int form = pick(4), name = names++;
    if (depth == 2)
        return;
    depth++;
    for (int part = 0; part < 2; part++) {
        for (const char *c = forms[form][part]; *c != '\0'; c++) {
            if (c[0] == '%')
                rs_text_format(out, "%d", name);
            else if (c == forms[form][part] || c[-1] != '%')
                rs_text_add(out, c, 1);
        }
        if (part == 0)
            write_value(out, r, 1);
    }
    write_statement(out, r, number);
    if (form == 1)
        rs_text_add_string(out, pick(2) ? "  break;\n  default:\n" : "  default:\n");
    write_statement(out, r, number);
    if (form == 2)
        rs_text_format(out, "  } while (--j%d > 0); }", name);
    else
        rs_text_add_string(out, form == 3 ? "  } }" : "  }");
    depth--;
}

/* Vectors behind an array member, or several lanes of a vector. */
static void write_vector_statement(rs_text *out, const record *r)
{
    int at = pick(r->count);
    const member *m = &r->members[at];
    if (m->type != NULL && m->lanes >= 2 && m->rows == 0) {
        static const char *const pairs[][2] = {{"xy", "yx"}, {"yx", "xy"}, {"xy", "yy"}};
        int pair = pick(3);
        rs_text_format(out, "a[i].m%d.%s %s b[n - 1 - i].m%d.%s", at, pairs[pair][0],
                       pick(2) ? "=" : "+=", at, pairs[pair][1]);
    } else if (m->type != NULL && m->lanes == 1 && m->rows >= 2 && m->columns == 0) {
        rs_text_format(out, "vstore2(vload2(0, (b + n - 1 - i)->m%d), 0, ", at);
        write_element(out, "a", "i", false);
        rs_text_format(out, "m%d)", at);
    }
}

static void write_statement(rs_text *out, const record *r, int number)
{
    int kind = pick(15);
    rs_text_add_string(out, "  ");
    if (kind == 0) {
        write_element(out, "a", "i", true);
        rs_text_add_string(out, " = ");
        write_element(out, pick(2) ? "b" : "a", "i", true);
    } else if (kind == 1) {
        rs_text_format(out, "{ R%d s = ", number);
        write_element(out, pick(2) ? "b" : "a", "i", true);
        rs_text_add_string(out, "; s.");
        write_lane(out, write_path(out, r, 1));
        rs_text_add_string(out, " += 3; ");
        write_element(out, "a", "i", true);
        rs_text_add_string(out, " = s; }");
    } else if (kind == 2) {
        /* Only a member: what a function does with padding is not specified. */
        write_element(out, "a", "i", false);
        write_lane(out, write_path(out, r, 1));
        rs_text_format(out, " = ((int)same%d(", number);
        write_element(out, "b", "n - 1 - i", true);
        rs_text_add_string(out, ").");
        write_lane(out, write_path(out, r, 1));
        rs_text_add_string(out, " & 1023)");
    } else if (kind == 3) {
        rs_text_add_string(out, "if (");
        write_value(out, r, 1);
        rs_text_add_string(out, " & 1) a[i] = (i % 2 ? a[i] : b[i])");
    } else if (kind == 4) {
        write_nested_statement(out, r, number);
    } else if (kind == 5) {
        write_control_flow(out, r, number);
    } else if (kind == 6) {
        write_vector_statement(out, r);
    } else {
        static const char *const operators[] = {"=", "=", "+=", "-="};
        write_element(out, "a", "i", false);
        write_lane(out, write_path(out, r, 1));
        rs_text_format(out, " %s ", operators[pick(4)]);
        write_value(out, r, 3);
    }
    rs_text_add_string(out, ";\n");
}

/* A helper that changes a member of a nested structure. */
static void write_touch(rs_text *out, const record *r, int number)
{
    int at = pick(r->nested_count);
    const member *m = &r->nested[at];
    rs_text_format(out, "static void touch%d(global struct I%d *q, int k) { q->m%d", number, number,
                   at);
    if (m->rows > 0)
        rs_text_format(out, "[%d]", pick(m->rows));
    if (m->columns > 0)
        rs_text_format(out, "[%d]", pick(m->columns));
    write_lane(out, m);
    rs_text_add_string(out, pick(2) ? " = k; }\n" : " += k; }\n");
}

static char *random_program(size_t flat_sizes[FLAT_KERNELS][2])
{
    rs_text out = RS_TEXT_EMPTY;
    rs_text_add_string(&out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    for (int k = 0; k < KERNELS; k++) {
        record r;
        write_record(&out, k, &r);
        rs_text_format(&out, "static R%d same%d(R%d s) { return s; }\n", k, k, k);
        write_touch(&out, &r, k);
        const char *space = pick(3) == 0 ? "constant" : "const global";
        rs_text_format(&out, "#define ata ata%d\n#define atb atb%d\n", k, k);
        rs_text_format(&out, "global R%d *ata(global R%d *q, int k) { return q + k; }\n", k, k);
        rs_text_format(&out, "%s R%d *atb(%s R%d *q, int k) { q += k; return q; }\n", space, k,
                       space, k);
        rs_text_format(&out,
                       "kernel void f%d(global R%d *a, %s R%d *b, int n) {\n  int i = "
                       "get_global_id(0);\n  if (i >= n) return;\n  global R%d *pa = a + 2;\n  %s "
                       "R%d *pb = &b[2];\n  a[i] = b[i];\n",
                       k, k, space, k, k, space, k);
        int statements = 2 + pick(6);
        for (int s = 0; s < statements; s++)
            write_statement(&out, &r, k);
        rs_text_add_string(&out, "}\n#undef ata\n#undef atb\n");
    }
    for (int k = 0; k < FLAT_KERNELS; k++)
        write_flat_kernel(&out, k, flat_sizes[k]);
    char *text = rs_text_take(&out);
    assert_non_null(text);
    return text;
}

/* Padding of a nested structure may lie otherwise in the whole one: a reason to keep the array. So
 * is that it is in SoA already. */
static bool may_be_kept(const json_t *argument)
{
    const char *reason = string_of(argument, "reason");
    return reason != NULL && (strstr(reason, "padding of a nested structure") != NULL ||
                              (strcmp(reason, "layout requested") == 0 &&
                               strcmp(string_of(argument, "layout"), "f i") == 0));
}

typedef struct {
    unsigned long long seed;
    const char *source;
    const json_t *reply;
    cl_program original, rewritten;
} trial;

/* False when the kernel's arrays stay as they are. The sizes are of records; NULL: as described. */
static bool try_kernel(const trial *t, const char *kernel, const size_t *sizes)
{
    const json_t *a = find_argument(t->reply, kernel, "a");
    const json_t *b = find_argument(t->reply, kernel, "b");
    if (may_be_kept(a) || may_be_kept(b))
        return false;
    if (json_object_get(a, "record") == NULL || json_object_get(b, "record") == NULL)
        fail_msg("seed %llu: %s was not transformed: %s %s\n%s", t->seed, kernel,
                 string_of(a, "reason"), string_of(b, "reason"), t->source);
    size_t size = (size_t)number_of(json_object_get(a, "record"), "size");
    char title[48];
    snprintf(title, sizeof title, "seed %llu", t->seed);
    device_case test = {title,
                        kernel,
                        2,
                        {"a", "b"},
                        {sizes != NULL ? sizes[0] : size, sizes != NULL ? sizes[1] : size}};
    size_t tile = (size_t)number_of(a, "tile"), n = 20 + (size_t)pick(80);
    if (tile > 0 && pick(2) == 0)
        n = (n + tile - 1) / tile * tile;
    device_compare(&test, t->original, t->rewritten, t->reply, n, (unsigned)t->seed);
    return true;
}

/* The number of kernels that were compared. */
static int try_program(unsigned long long seed, int tile)
{
    random_state = seed * 0x9e3779b97f4a7c15ull; /* seeds in a row have nothing in common */
    int compared = 0;
    size_t flat_sizes[FLAT_KERNELS][2];
    char *source = random_program(flat_sizes), kernel[16];
    json_t *reply = ask_for_tiles(source, "", tile);
    if (json_object_get(reply, "reason") != NULL)
        fail_msg("seed %llu: not read (line %lld: %s):\n%s", seed, number_of(reply, "line"),
                 string_of(reply, "reason"), source);
    const char *text = string_of(reply, "source");
    const trial t = {seed, source, reply, device_build(source, ""),
                     device_build(text != NULL ? text : source, "")};
    for (int k = 0; k < KERNELS; k++) {
        snprintf(kernel, sizeof kernel, "f%d", k);
        compared += try_kernel(&t, kernel, NULL);
    }
    for (int k = 0; k < FLAT_KERNELS; k++) {
        snprintf(kernel, sizeof kernel, "g%d", k);
        compared += try_kernel(&t, kernel, flat_sizes[k]);
    }
    clReleaseProgram(t.original);
    clReleaseProgram(t.rewritten);
    json_decref(reply);
    free(source);
    return compared;
}

static void test_random_kernels(void **state)
{
    (void)state;
    static const int tiles[] = {16, 32, 64, 7, 0}; /* 0: "f i" */
    enum { TILES = sizeof tiles / sizeof tiles[0] };
    if (!device_available())
        skip();
    const char *first = getenv("RESTRIDE_TEST_SEED"), *seconds = getenv("RESTRIDE_TEST_SECONDS");
    unsigned long long seed = first != NULL ? strtoull(first, NULL, 10) : 20140519;
    time_t end = time(NULL) + (seconds != NULL ? atoi(seconds) : 0);
    int compared = 0, programs = 0;
    for (; programs < PROGRAMS || time(NULL) < end; programs++)
        compared += try_program(seed + (unsigned long long)programs,
                                tiles[(seed + (unsigned long long)programs) % TILES]);
    print_message("%d kernels of %d programs gave the same bytes.\n", compared, programs);
    assert_true(compared > programs); /* most kernels have to be transformed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_kernels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
