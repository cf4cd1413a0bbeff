/*
 * Indexes of flat arrays: where it is proved that the member lies within its record, the new source
 * asks no question about it. Loops and expressions that would go wrong if the proof were weaker
 * keep the question; all of them give the results of the kernel as it was written.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "device.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8 }; /* of a record */

/* Statements that add to `s` what they read of b. Each reads it once, and works on record i. */
typedef struct {
    const char *title, *statements;
} example;

static const example proved[] = {
    {"a constant", "s += b[8 * i + 3];"},
    {"a constant of another record", "s += b[8 * i - 8 + 15];"},
    {"a loop", "for (int k = 0; k < 8; k++) s += b[8 * i + k] * (k + 1);"},
    {"its end included", "for (int k = 0; k <= 7; ++k) s += b[i * 8 + k] * (k + 1);"},
    {"the other way round", "for (long k = 0; 8 > k; k++) s += b[8 * i + k] * (k + 1);"},
    {"other types", "for (size_t k = 2; k < 8u; k++) s += b[k + 8 * (size_t)i] * (k + 1);"},
    {"other steps", "for (short k = 1; k < 8; k += 3) s += b[8 * i + k] * (k + 1);"},
    {"brackets", "for (int k = 0; ((k) < (8)); (k)++) s += b[(8 * (i)) + (k)] * (k);"},
    {"two conditions", "for (int k = 0; k < n && k < 8; k++) s += b[8 * i + k] * (k + 1);"},
    {"the smaller of two", "for (int k = 0; k < min(n - 3, 8); k++) s += b[8 * i + k] * k;"},
    {"a variable end", "const int end = n & 7; for (int k = 0; k < end; k++) s += b[8 * i + k];"},
    {"a start below 0", "for (int k = -3; k < 5; k++) s += b[8 * i + 3 + k] * (k + 9);"},
    {"a start above 0", "for (int k = 1; k < 9; k++) s += b[8 * i - 1 + k] * (k + 9);"},
    {"declared before", "int k; k = 9; for (k = 0; k < 8; k++) s += b[8 * i + k] * (k + 1);"},
    {"used again",
     "int k; for (k = 0; k < 99; k++) s += k; for (k = 0; k < 8; k++) s += b[8 * i + k] * k;"},
    {"loops in loops", "for (int j = 0; j < 4; j++) for (int k = 0; k < 2; k++) s += b[8 * i + 2 * "
                       "j + k] * (j + 1);"},
    {"a loop that ends early",
     "for (int k = 0; k < 8; k++) { if (k == i % 5) continue; if (k > 6) break; s += b[8 * i + k] "
     "* (k + 1); }"},
    {"a variable that is set once", "for (int k = 0; k < 4; k++) { int j = 2 * k + 1; s += b[8 * i "
                                    "+ j]; }"},
    {"a mask", "s += b[8 * i + (s & 7)];"},
    {"a remainder", "s += b[8 * i + (int)((uint)s % 7u)];"},
    {"a remainder of what is not negative", "s += b[8 * i + ((s & 63) + 5) % 8];"},
    {"a shift", "s += b[8 * i + (int)((uint)s >> 29)];"},
    {"a quotient", "s += b[8 * i + (s & 31) / 4];"},
    {"a choice", "s += b[8 * i + (i > 9 ? i & 3 : 7)];"},
    {"a type", "uchar c = s; s += b[8 * i + (c >> 5)];"},
    {"work-items", "const size_t row = get_global_id(0); for (int k = 0; k < 8; k++) s += b[row * "
                   "8 + k] * (k + 1);"},
    {"work-items of groups",
     "size_t row = get_group_id(0) * get_local_size(0) + get_local_id(0); s += b[8 * row + 5];"},
    {"a name within that stands for something else",
     "for (int k = 0; k < 2; k++) { int j = 15; s += b[8 * (i - 1) + j]; }"},
};

static const example not_proved[] = {
    {"changed in the body",
     "for (int k = 0; k < 8; k++) { if (k == 7) k += i & 1; s += b[8 * i + k] * (k + 1); }"},
    {"set in the body", "for (int k = 0; k < 8; k++) { s += b[8 * i + k]; if (k == 6) k = 7; }"},
    {"changed in the index", "for (int k = 0; k < 8; k++) s += b[8 * i + ++k] * (k + 1);"},
    {"changed in the condition", "for (int k = 0; k++ < 8;) s += b[8 * i + k] * (k + 1);"},
    {"changed in the condition, too",
     "for (int k = 0; k < 8 && k++ < 8; k++) s += b[8 * i + k] * (k + 1);"},
    {"changed through a pointer",
     "for (int k = 0; k < 8; k++) { int *p = &k; if (k == 7) ++*p; s += b[8 * i + k]; }"},
    {"changed by a function", "for (int k = 0; k < 8; k++) { move(&k); s += b[8 * i + k]; }"},
    {"a start below 0", "for (int k = -2; k < 6; k++) s += b[8 * i + k] * (k + 3);"},
    {"an unknown start", "for (int k = i & 1 ? -1 : 0; k < 8; k++) s += b[8 * i + k];"},
    {"a start that is not known", "for (int k = n - 2 - n; k < 8; k++) s += b[8 * i + k];"},
    {"one too many", "for (int k = 0; k <= 8; k++) s += b[8 * i + k] * (k + 1);"},
    {"one too many, again", "for (int k = 1; k < 10; k++) s += b[8 * i - 1 + k] * (k + 1);"},
    {"the larger of two", "for (int k = 0; k < max(9, 8); k++) s += b[8 * i + k] * (k + 1);"},
    {"one of two conditions", "for (int k = 0; k < 8 || k < 9; k++) s += b[8 * i + k] * (k + 1);"},
    {"another variable's condition",
     "for (int k = 0, j = 0; j < 8; k++, j++) s += b[8 * i + k + 2 * (j / 7)];"},
    {"downwards", "for (int k = 7; k >= -1; k--) s += b[8 * i + k] * (k + 3);"},
    {"downwards, with a wrong sign",
     "for (int k = 2; k < 8 && k > -3; k += -1) s += b[8 * i + k];"},
    {"a step that is not known", "for (int k = 4; k < 8 && k > -3; k += 1 - (n & 0xff)) s += b[8 * "
                                 "i + k];"},
    {"behind the loop", "int k; for (k = 0; k < 8; k++) s += k; s += b[8 * i + k];"},
    {"before the loop", "int k = 9; s += b[8 * i + k]; for (k = 0; k < 8; k++) s += k;"},
    {"in the last part", "for (int k = 0; k < 8; k++, s += b[8 * i + k]) s += k;"},
    {"in the condition", "for (int k = 0; k < 8 + (b[8 * i + k] & 0); k++) s += k * 3;"},
    {"an end that moves",
     "int end = 8; for (int k = 0; k < end; k++) { if (k == 7) end = 9; s += b[8 * i + k]; }"},
    {"jumped into",
     "int k = 9; if (i & 1) goto inside; for (k = 0; k < 8; k++) { inside: s += b[8 * i + k]; }"},
    {"switched into", "int k = 9; switch (i & 1) { case 1: for (k = 0; k < 8; k++) { default: s += "
                      "b[8 * i + k]; } }"},
    {"a name that stands for two things",
     "for (int k = 0; k < 2; k++) { s += b[8 * i + k]; int k = 9; s += k; }"},
    {"a while loop", "int k = 0; while (k < 9) { s += b[8 * i + k]; k++; }"},
    {"a remainder with a sign", "s += b[8 * i + (3 - i) % 8];"},
    {"a mask with a sign", "s += b[8 * i + (-i & -2) % 9];"},
    {"too wide a mask", "s += b[8 * i + (s & 15)];"},
    {"too small a shift", "s += b[8 * i + (int)((uint)s >> 28)];"},
    {"a sum that wraps", "uint u = i; s += b[8 * i + (u - u - 1u + 1u) + (8u - 8u * (u & 1u))];"},
    {"a record that wraps",
     "ulong r = (ulong)i + (1ul << 61); for (int k = 0; k < 8; k++) s += b[r * 8 + k] * (k + 1);"},
    {"a record that wraps, each another",
     "ulong r = ((ulong)i << 61) + (ulong)i; s += b[r * 8 + 3];"},
    {"an unknown record of unsigned numbers", "ulong r = (ulong)s & 0x2ffffffffffffffful; if (r < "
                                              "n - 1) s += b[8 * r + 1];"},
};

/* A kernel for each example; work-items 1 to n - 3 read, so that neighbouring records exist. */
static char *kernels_of(const example *examples, size_t count)
{
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source, "// restride: b[n][8]\nvoid move(int *k) { if (*k == 7) ++*k; }\n");
    for (size_t e = 0; e < count; e++)
        rs_text_format(
            &source,
            "kernel void f%zu(global int *a, global const int *b, int n) { int i = "
            "get_global_id(0); if (i < 1 || i >= n - 2) return; int s = i * 2654435761u; "
            "%s a[i] = s; }\n",
            e, examples[e].statements);
    char *taken = rs_text_take(&source);
    assert_non_null(taken);
    return taken;
}

static int count_of(const char *begin, const char *end, const char *word)
{
    int count = 0;
    for (const char *at = begin; (at = strstr(at, word)) != NULL && at < end; at++)
        count++;
    return count;
}

/* Whether an example's kernel asks nowhere, and reads b at all. */
static void check_proof(const char *source, size_t number, const example *e, bool is_proved)
{
    char name[32];
    snprintf(name, sizeof name, "void f%zu(", number);
    const char *begin = strstr(source, name);
    assert_non_null(begin);
    const char *end = strstr(begin + 1, "kernel void f");
    if (end == NULL)
        end = begin + strlen(begin);
    int within = count_of(begin, end, "_within("), all = count_of(begin, end, "restride_layout_");
    if (all == 0 || (within == all) != is_proved)
        fail_msg("%s: %d of %d accesses are proved", e->title, within, all);
}

static void compare(const char *source, const json_t *reply, const example *examples, size_t count)
{
    cl_program original = device_build(source, "");
    cl_program rewritten = device_build(string_of(reply, "source"), "");
    for (size_t e = 0; e < count; e++) {
        char kernel[24];
        snprintf(kernel, sizeof kernel, "f%zu", e);
        const device_case test = {examples[e].title, kernel, 2, {"a", "b"}, {4, 4 * LENGTH}};
        device_compare(&test, original, rewritten, reply, 100, (unsigned)e);
        device_compare(&test, original, rewritten, reply, 37, (unsigned)e);
    }
    clReleaseProgram(original);
    clReleaseProgram(rewritten);
}

static void check(const example *examples, size_t count, bool is_proved)
{
    static const char *const layouts[] = {"i/16 f i%16", "i/7 f i%7", "f i"};
    char *source = kernels_of(examples, count);
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
        json_t *reply =
            ask(json_pack("{s:s, s:b, s:i, s:{s:s}}", "source", source, "assume_undefined", 1,
                          "tile", 32, "layouts", "b", layouts[l]));
        for (size_t e = 0; e < count; e++)
            check_proof(string_of(reply, "source"), e, &examples[e], is_proved);
        if (device_available())
            compare(source, reply, examples, count);
        json_decref(reply);
    }
    free(source);
}

static void test_proved(void **state)
{
    (void)state;
    check(proved, sizeof proved / sizeof proved[0], true);
}

static void test_not_proved(void **state)
{
    (void)state;
    check(not_proved, sizeof not_proved / sizeof not_proved[0], false);
}

/* Memory that other work-items change, and code that runs at another time: not run here. */
static void test_not_seen(void **state)
{
    (void)state;
    static const example examples[] = {
        {"local memory", "local int k; for (k = 0; k < 8; k++) s += b[8 * i + k];"},
        {"volatile", "for (volatile int k = 0; k < 8; k++) s += b[8 * i + k];"},
        {"too many assignments",
         "int k; k = 0; k = 1; k = 2; k = 3; k = 4; k = 5; k = 6; k = 7; for (k = 0; k < 8; k++) s "
         "+= b[8 * i + k];"},
    };
    enum { COUNT = sizeof examples / sizeof examples[0] };
    char *source = kernels_of(examples, COUNT);
    json_t *reply = ask_for_tiles(source, "", 32);
    for (size_t e = 0; e < COUNT; e++)
        check_proof(string_of(reply, "source"), e, &examples[e], false);
    json_decref(reply);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proved),
        cmocka_unit_test(test_not_proved),
        cmocka_unit_test(test_not_seen),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
