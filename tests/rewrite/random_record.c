/* See random_record.h. */
#include "random_record.h"

#include "pick.h"

#include <stdio.h>

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

void write_record(rs_text *out, int number, record *r)
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
    rs_text_add_string(out, "};\ntypedef struct { ");
    write_members(out, r->members, r->count, nested);
    rs_text_format(out, "} R%d;\n", number);
}

/* ---- expressions ---- */

/* An index below `limit`, from whatever is at hand. */
static void write_subscript(rs_text *out, const record *r, int limit, int depth)
{
    if (r->constant || pick(2) == 0) {
        rs_text_format(out, "[%d]", pick(limit));
        return;
    }
    rs_text_add_string(out, "[(uint)(");
    write_value(out, r, depth - 1);
    rs_text_format(out, ") %% %du]", limit);
}

/* Element `index` of buffer "a" or "b" (format: index, buffer); `p` and `at` are made by
 * who writes the kernel. */
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
void write_element(rs_text *out, const char *buffer, const char *index, bool whole)
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

const member *write_path(rs_text *out, const record *r, int depth)
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

void write_lane(rs_text *out, const member *m)
{
    if (m->lanes > 1)
        rs_text_format(out, ".%c", "xyzw"[pick(m->lanes)]);
}

/* A small int: a constant, the index, or something read from an element. */
void write_value(rs_text *out, const record *r, int depth)
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

void write_statement(rs_text *out, const record *r, int number)
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
void write_touch(rs_text *out, const record *r, int number)
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
