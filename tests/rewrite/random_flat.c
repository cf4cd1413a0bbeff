/*
 * Kernels that use arrays of numbers as records: indexes of many forms, loops over members with
 * bounds of all kinds, vectors behind pointers and copies of work-groups. Sometimes the annotation
 * tells another length than the kernel uses, or the other order: that costs time and no result.
 */
#include "random_flat.h"

#include "pick.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *type;
    size_t size; /* of an element */
    int length;  /* members of a record, as the kernel takes it */
    bool soa;
    bool halves; /* told to have planes of HALF, and read so */
} flat_array;

static void write_value(rs_text *out, const flat_array *a, const flat_array *b, int depth);

/* A form with its letters replaced: record, member, length and the array's name. */
static void write_form(rs_text *out, const char *form, const char *record, const char *member,
                       const flat_array *array)
{
    for (; *form != '\0'; form++) {
        if (*form != '$') {
            rs_text_add(out, form, 1);
            continue;
        }
        switch (*++form) {
        case 'r':
            rs_text_add_string(out, record);
            break;
        case 'm':
            rs_text_add_string(out, member);
            break;
        case 'l':
            rs_text_format(out, "%d", array->length);
            break;
        default:
            rs_text_add_string(out, array->name);
        }
    }
}

/* A member of a record. */
static void write_place(rs_text *out, const flat_array *array, const char *record,
                        const char *member)
{
    static const char *const aos[] = {"$a[$l * ($r) + ($m)]",
                                      "$a[($m) + ($r) * $l]",
                                      "($a + $l * ($r))[$m]",
                                      "$a[(($r) + 1) * $l + ($m) - $l]",
                                      "$a[(uint)($r) * $lu + (uint)($m)]",
                                      "(*($a + ($m) + $l * (size_t)($r)))",
                                      "$a[(size_t)($r) * $l + ($m)]",
                                      "p$a[$l * (($r) - i) + ($m)]"};
    static const char *const soa[] = {"$a[($m) * n + ($r)]",
                                      "$a[($r) + n * ($m)]",
                                      "($a + ($m) * n)[$r]",
                                      "$a[(size_t)($m) * (size_t)n + (size_t)($r)]",
                                      "$a[(uint)($m) * z + (uint)($r)]",
                                      "$a[(($m) + 1) * n - n + ($r)]",
                                      "$a[($m) * CELLS + ($r)]",
                                      "p$a[($m) * n + (($r) - i)]"};
    int form = pick(sizeof aos / sizeof aos[0]);
    write_form(out, array->soa ? soa[form] : aos[form], record, member, array);
}

/* The work-item's own record. */
static void write_own(rs_text *out, const flat_array *array, const char *member)
{
    write_place(out, array, "i", member);
}

static void write_own_constant(rs_text *out, const flat_array *array)
{
    char member[16];
    snprintf(member, sizeof member, "%d", pick(array->length));
    write_own(out, array, member);
}

/* Some element that may be read: of any record. */
static void write_any(rs_text *out, const flat_array *a, const flat_array *b, int depth)
{
    rs_text number = RS_TEXT_EMPTY;
    write_value(&number, a, b, depth - 1);
    if (number.size > 200 || pick(4) == 0) {
        write_own_constant(out, b);
    } else if (!b->halves && pick(2) == 0) {
        rs_text record = RS_TEXT_EMPTY;
        char member[16];
        rs_text_format(&record, "(int)((uint)(%s) %% (uint)n)", number.data);
        snprintf(member, sizeof member, "%d", pick(b->length));
        write_place(out, b, record.data, member);
        rs_text_free(&record);
    } else if (b->halves) { /* planes of another size than the buffer's */
        rs_text_format(out, "b[%d * HALF + (int)((uint)(%s) %% (uint)HALF)]", pick(b->length),
                       number.data);
    } else {
        rs_text_format(out, "b[(uint)(%s) %% (uint)(%d * n)]", number.data, b->length);
    }
    rs_text_free(&number);
}

static int random_lanes(void)
{
    static const int lanes[] = {2, 3, 4, 8, 16};
    return lanes[pick(5)];
}

static void write_vector_load(rs_text *out, const flat_array *a, const flat_array *b, int depth,
                              int lanes)
{
    int shift = pick(3);
    rs_text_format(out, "vload%d((uint)(", lanes);
    write_value(out, a, b, depth - 2);
    rs_text_format(out, ") %% (uint)((%d * n - %d) / %d), b + %d)", b->length, shift, lanes, shift);
}

static void write_value(rs_text *out, const flat_array *a, const flat_array *b, int depth)
{
    switch (depth <= 0 ? pick(2) : depth == 1 ? pick(7) : 2 + pick(5)) {
    case 0:
        rs_text_format(out, "%d", pick(100));
        break;
    case 1:
        rs_text_add_string(out, "i");
        break;
    case 2:
        rs_text_add_string(out, "(");
        write_value(out, a, b, depth - 1);
        rs_text_add_string(out, pick(2) ? " + " : " ^ ");
        write_value(out, a, b, depth - 1);
        rs_text_add_string(out, ")");
        break;
    case 3:
        rs_text_add_string(out, "((int)");
        write_own_constant(out, a);
        rs_text_add_string(out, " & 1023)");
        break;
    case 4: {
        int lanes = random_lanes();
        rs_text_add_string(out, "((int)");
        write_vector_load(out, a, b, depth, lanes);
        rs_text_format(out, ".s%x & 1023)", (unsigned)pick(lanes));
        break;
    }
    default:
        rs_text_add_string(out, "((int)");
        write_any(out, a, b, depth);
        rs_text_add_string(out, " & 1023)");
    }
}

/* "a[...] = ..." */
static void write_assignment(rs_text *out, const flat_array *a, const flat_array *b,
                             const char *member)
{
    static const char *const operators[] = {"=", "=", "+=", "-="};
    rs_text_add_string(out, "    ");
    if (member != NULL)
        write_own(out, a, member);
    else
        write_own_constant(out, a);
    rs_text_format(out, " %s ", operators[pick(4)]);
    write_value(out, a, b, 3);
    rs_text_add_string(out, ";\n");
}

/* A loop over the members: what is between its head and its tail, which get the length. */
static void write_loop(rs_text *out, const flat_array *a, const flat_array *b)
{
    static const char *const forms[][2] = {
        {"  for (int e = 0; e < %1$d; e++) {\n", "  }\n"},
        {"  for (int e = 1; e <= %1$d - 1; ++e) {\n", "  }\n"},
        {"  for (int e = %1$d - 1; e >= 0; e--) {\n", "  }\n"},
        {"  for (uint e = 0; e < %1$du; e += 2) {\n", "  }\n"},
        {"  for (int e = -1; e <= %1$d; e++) if (e >= 0 && e < %1$d) {\n", "  }\n"},
        {"  for (int e = 0; e < %1$d; e++) {\n", "    if (i & 1) e++;\n  }\n"},
        {"  { int e = 0; for (; e < %1$d; e++) {\n", "  } }\n"},
        {"  { int e = %1$d; while (e-- > 0) {\n", "  } }\n"},
        {"  for (int e = 0, m = i %% %1$d + 1; e < m; e++) {\n", "  }\n"},
        {"  for (int e = 0; e != %1$d; e++) {\n", "  }\n"},
        {"  for (uint u = 3; u > 0; u--) for (int e = (int)(u - 1) %% %1$d; e < %1$d; e += 3) {\n",
         "  }\n"},
        {"  for (int f = 0; f < 2 * %1$d; f++) { int e = f / 2;\n", "  }\n"}};
    enum { FORMS = sizeof forms / sizeof forms[0] };
    int form = pick(FORMS);
    rs_text_format(out, forms[form][0], a->length);
    write_assignment(out, a, b, "e");
    if (pick(3) == 0)
        write_assignment(out, a, b, form == 5 ? NULL : "e");
    rs_text_format(out, forms[form][1], a->length);
}

/* A loop that runs over the record's end, into the next one. */
static void write_overrun(rs_text *out, const flat_array *a, const flat_array *b)
{
    if (b->soa)
        return;
    rs_text_format(
        out,
        "  if (i + 1 < n) { int s = 0; for (int e = 0; e < %d; e++) s += (int)b[%d * i + "
        "e] & 255; ",
        b->length + 1 + pick(b->length), b->length);
    write_own_constant(out, a);
    rs_text_add_string(out, " = s; }\n");
}

/* A vector is stored into the record, or in SoA into nothing: neighbours have the lanes there. */
static void write_vector_store(rs_text *out, const flat_array *a, const flat_array *b)
{
    int lanes = random_lanes();
    if (a->soa || lanes > a->length)
        return;
    int at = pick(a->length - lanes + 1);
    rs_text_format(out, "  vstore%d(", lanes);
    if (pick(2) == 0) {
        /* Compilers differ in what becomes of a floating number that is too large for an integer.
         */
        bool floating = strcmp(a->type, "float") == 0 || strcmp(a->type, "double") == 0;
        rs_text_format(out, "convert_%s%d%s(", a->type, lanes, floating ? "" : "_sat");
        write_vector_load(out, a, b, 2, lanes);
        rs_text_add_string(out, ")");
    } else {
        rs_text_format(out, "(%s%d)((%s)", a->type, lanes, a->type);
        write_value(out, a, b, 2);
        rs_text_add_string(out, ")");
    }
    switch (pick(3)) {
    case 0:
        rs_text_format(out, ", 0, &a[%d * i + %d]);\n", a->length, at);
        break;
    case 1:
        rs_text_format(out, ", %d, a + i * %d);\n", at / lanes, a->length);
        break;
    default:
        rs_text_format(out, ", (uchar)0, pa + %d);\n", at);
    }
}

/* A copy of one member of a group's records, all behind the event in `event`. */
static void write_member_copy(rs_text *out, const flat_array *array, int member, bool fetch,
                              const char *event)
{
    rs_text far = RS_TEXT_EMPTY, near = RS_TEXT_EMPTY;
    if (array->soa)
        rs_text_format(&far, "%s + %d * n + g", array->name, member);
    else
        rs_text_format(&far, "%s + %d * g + %d", array->name, array->length, member);
    rs_text_format(&near, "t + 16 * %d", member);
    rs_text_format(out, "async_work_group_%s(%s, %s, (size_t)m%s, %s);\n",
                   array->soa ? "copy" : "strided_copy", fetch ? near.data : far.data,
                   fetch ? far.data : near.data, array->soa ? "" : ", stride", event);
    rs_text_free(&far);
    rs_text_free(&near);
}

/* All work-items of a group copy its records in and out. */
static void write_group_body(rs_text *out, const flat_array *a, const flat_array *b)
{
    rs_text_format(
        out,
        "  local %s t[%d];\n  int l = get_local_id(0), g = get_group_id(0) * 16, m = n - "
        "g < 16 ? n - g : 16;\n  for (int k = l; k < %d; k += 16) t[k] = k;\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n  size_t stride = %d;\n",
        a->type, 16 * a->length, 16 * a->length, b->length);
    int most = a->length < b->length ? a->length : b->length;
    for (int f = 0; f < most; f++) {
        rs_text_add_string(out, f == 0 ? "  event_t e = " : "  e = ");
        write_member_copy(out, b, f, true, f == 0 ? "0" : "e");
    }
    rs_text_format(out,
                   "  wait_group_events(1, &e);\n  if (l < m) t[l] += 1;\n"
                   "  barrier(CLK_LOCAL_MEM_FENCE);\n  stride = %d;\n",
                   a->length);
    int shift = pick(a->length);
    if (!a->soa && pick(2) == 0)
        rs_text_format(out,
                       "  event_t o = async_work_group_copy(a + %d * g + %d, t, m * %d - %d, 0);\n",
                       a->length, shift, a->length, shift);
    else
        for (int f = 0; f < a->length; f++) {
            rs_text_add_string(out, f == 0 ? "  event_t o = " : "  o = ");
            write_member_copy(out, a, f, false, f == 0 ? "0" : "o");
        }
    rs_text_add_string(out, "  wait_group_events(1, &o);\n");
}

static flat_array random_array(const char *name, const flat_array *same_type)
{
    static const struct {
        const char *type;
        size_t size;
    } types[] = {{"float", 4}, {"int", 4},   {"uint", 4},  {"short", 2},
                 {"uchar", 1}, {"ulong", 8}, {"double", 8}};
    int t = pick(sizeof types / sizeof types[0]);
    flat_array array = {name, types[t].type, types[t].size, 2 + pick(9), pick(2) == 0, false};
    if (same_type != NULL) {
        array.type = same_type->type;
        array.size = same_type->size;
    }
    return array;
}

/* The annotation; the size of the records that it tells. */
static size_t tell(rs_text *out, flat_array *array, int number)
{
    static const char *const extents[] = {"HALF", "n", "z", "CELLS"};
    int length = array->length + (pick(6) == 0);
    bool soa = pick(6) == 0 ? !array->soa : array->soa;
    int extent = pick(4);
    array->halves = soa && extent == 0;
    if (soa)
        rs_text_format(out, "//DL: SoA: g%d.%s[%d][%s]\n", number, array->name, length,
                       extents[extent]);
    else
        rs_text_format(out, "//DL: AoS: g%d.%s[n][%d]\n", number, array->name, length);
    return (size_t)length * array->size;
}

void write_flat_kernel(rs_text *out, int number, size_t sizes[2])
{
    bool group = pick(5) == 0;
    flat_array a = random_array("a", NULL),
               b = random_array("b", group || pick(2) == 0 ? &a : NULL);
    const char *space = !group && pick(3) == 0 ? "constant" : "const global";
    sizes[0] = tell(out, &a, number);
    sizes[1] = tell(out, &b, number);
    if (number == 0)
        rs_text_add_string(out, "#define CELLS (n)\n#define HALF (n / 2)\n");
    rs_text_format(out,
                   "kernel void g%d(global %s *a, %s %s *b, int n) {\n"
                   "  int i = get_global_id(0);\n  uint z = n;\n",
                   number, a.type, space, b.type);
    if (group) {
        write_group_body(out, &a, &b);
    } else {
        rs_text_format(out,
                       "  if (i >= n) return;\n  global %s *pa = a + i;\n  %s %s *pb = b;\n"
                       "  pb += %d * i;\n",
                       a.type, space, b.type, b.soa ? 1 : b.length);
        if (!a.soa)
            rs_text_format(out, "  pa = &a[i * %d];\n", a.length);
        rs_text_add_string(out, "  ");
        write_own(out, &a, "0");
        rs_text_add_string(out, " = i * 3 + 5;\n"); /* so that something changes */
        for (int s = 1 + pick(5); s > 0; s--)
            switch (pick(6)) {
            case 0:
            case 1:
                write_assignment(out, &a, &b, NULL);
                break;
            case 2:
                write_overrun(out, &a, &b);
                break;
            case 3:
                write_vector_store(out, &a, &b);
                break;
            default:
                write_loop(out, &a, &b);
            }
    }
    rs_text_add_string(out, "}\n");
}
