/*
 * Descriptions of second forms: read whole or not at all, from damaged ones too; found in programs
 * however they are linked; kernels found by the names that clang and nvcc give them.
 */
#include "base/status.h"
#include "base/text.h"
#include "forms_note.h"
#include "layer/cuda/forms.h"
#include "layer/cuda/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Knuth's constants: the same numbers in every run. */
static size_t below(uint64_t *random, size_t bound)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((*random >> 33) % bound);
}

FORMS_NOTE("{\\\"version\\\":1,\\\"kernels\\\":[{\\\"symbol\\\":\\\"_Z3ownP1P\\\",\\\"name\\\":"
           "\\\"own\\\","
           "\\\"parameters\\\":1,\\\"second\\\":{\\\"full\\\":\\\"a\\\",\\\"ragged\\\":\\\"b\\\","
           "\\\"full_large\\\":\\\"c\\\","
           "\\\"ragged_large\\\":\\\"d\\\"},\\\"arguments\\\":[],\\\"why\\\":\\\"\\\"}]}");

static const char whole[] =
    "{\"version\": 1, \"kernels\": [{\"symbol\": \"_ZL5localP1PPKfi\", \"name\": \"local\", "
    "\"parameters\": 3,"
    "\"second\": {\"full\": \"_ZL11local__astaI1AEvP1P\", \"ragged\": \"_ZL11local__astaI1BEvP1P\","
    "\"full_large\": \"_ZL11local__astaI1CEvP1P\", \"ragged_large\": \"_ZL11local__astaI1DEvP1P\"},"
    "\"arguments\": [{\"index\": 0, \"name\": \"p\", \"type\": \"P *\", \"status\": "
    "\"transformed\","
    "\"layout\": \"i/32 f i%32\", \"tile\": 32, \"extent\": 3, \"record\": {\"size\": 12, "
    "\"alignment\": 4,"
    "\"leaves\": [{\"name\": \"x\", \"offset\": 0, \"size\": 4}, {\"name\": \"y\", \"offset\": 8, "
    "\"size\": 4}]}},"
    "{\"index\": 2, \"name\": \"q\", \"type\": \"Q *\", \"status\": \"kept\", \"layout\": \"i f\","
    "\"reason\": \"the pointer is cast\", \"file\": \"x.cu\", \"line\": 17}],"
    "\"gain\": 2.5, \"why\": \"spread over many lines\", \"few\": {\"threads\": 4096, \"gain\": "
    "3.5, \"why\": \"it waits\"}}]}";

static void reads_all_members(void **state)
{
    (void)state;
    rs_forms forms = {0};
    assert_int_equal(rs_forms_parse(&forms, whole, sizeof whole - 1), RESTRIDE_OK);
    assert_int_equal(forms.count, 1);
    const rs_form_kernel *kernel = rs_forms_find(&forms, "_Z5localP1PPKfi");
    assert_non_null(kernel);
    assert_string_equal(kernel->name, "local");
    assert_int_equal(kernel->parameters, 3);
    assert_true(kernel->gain == 2.5);
    assert_string_equal(kernel->why, "spread over many lines");
    assert_true(kernel->few_threads == 4096 && kernel->few_gain == 3.5);
    assert_string_equal(kernel->few_why, "it waits");
    assert_string_equal(kernel->second[RS_SECOND_RAGGED_LARGE], "_Z11local__astaI1DEvP1P");
    assert_int_equal(kernel->argument_count, 2);
    const rs_form_argument *p = &kernel->arguments[0], *q = &kernel->arguments[1];
    assert_true(p->is_transformed && p->tile == 32 && p->extent == 3 && p->index == 0);
    assert_int_equal(p->record.size, 12);
    assert_int_equal(p->record.leaf_count, 3); /* with what is between */
    assert_true(p->record.leaves[1].padding && p->record.leaves[1].offset == 4);
    assert_true(!q->is_transformed && q->index == 2 && q->line == 17);
    assert_string_equal(q->reason, "the pointer is cast");
    assert_string_equal(q->file, "x.cu");
    rs_forms_free(&forms);
}

/* Members that are structures of two floats: all of a member is at one place. */
static void reads_members_of_two_words(void **state)
{
    (void)state;
    static const char text[] =
        "{\"version\": 1, \"kernels\": [{\"symbol\": \"k\", \"name\": \"k\", \"parameters\": 1, "
        "\"second\": {\"full\": \"a\", \"ragged\": \"b\", \"full_large\": \"c\", \"ragged_large\": "
        "\"d\"}, \"arguments\": [{\"index\": 0, \"name\": \"p\", \"type\": \"M *\", \"status\": "
        "\"transformed\", \"layout\": \"i/32 f i%32\", \"tile\": 32, \"extent\": 1, \"record\": "
        "{\"size\": 16, \"alignment\": 4, \"leaves\": [{\"name\": \"e[0]\", \"offset\": 0, "
        "\"size\": "
        "8, \"alignment\": 4}, {\"name\": \"e[1]\", \"offset\": 8, \"size\": 8, \"alignment\": "
        "4}]}}], \"why\": \"\"}]}";
    rs_forms forms = {0};
    assert_int_equal(rs_forms_parse(&forms, text, strlen(text)), RESTRIDE_OK);
    const rs_record *record = &forms.kernels[0].arguments[0].record;
    assert_int_equal(record->leaf_count, 2);
    assert_int_equal(record->leaves[1].size, 8);
    rs_forms_free(&forms);
}

/* Kernels without second forms are found by their very names, and not without a witness. */
static void reads_others(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"version\": 1, \"kernels\": [], \"witness\": \"_Z1wv\", \"others\": [{\"symbol\": "
        "\"_Z3sumPf\", \"name\": \"sum\", \"parameters\": 1, \"closed\": true, \"arguments\": "
        "[]}]}",
        "{\"version\": 1, \"kernels\": [], \"others\": [{\"symbol\": \"_Z3sumPf\", \"name\": "
        "\"sum\", \"parameters\": 1, \"closed\": true, \"arguments\": []}]}"};
    rs_forms forms = {0};
    assert_int_equal(rs_forms_parse(&forms, texts[1], strlen(texts[1])), RESTRIDE_SYNTAX);
    assert_int_equal(rs_forms_parse(&forms, texts[0], strlen(texts[0])), RESTRIDE_OK);
    const rs_form_kernel *kernel = rs_forms_find(&forms, "_Z3sumPf");
    assert_non_null(kernel);
    assert_true(kernel->is_closed && kernel->parameters == 1 && kernel->argument_count == 0);
    assert_string_equal(kernel->witness, "_Z1wv");
    assert_null(kernel->second[RS_SECOND_RAGGED_LARGE]);
    assert_null(rs_forms_find(&forms, "_ZL3sumPf"));
    assert_null(rs_forms_find(&forms, "__nv_static_4__0_ab_Z3sumPf"));
    rs_forms_free(&forms);
}

/* A text with one byte changed or cut: whatever is read is freed, and nothing of it is half there.
 */
static void reads_damaged_ones(void **state)
{
    (void)state;
    uint64_t random = 20;
    size_t good = 0;
    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        rs_forms forms = {0};
        assert_int_not_equal(rs_forms_parse(&forms, whole, cut), RESTRIDE_OK);
        assert_int_equal(forms.count, 0);
        rs_forms_free(&forms);
    }
    for (int round = 0; round < 3000; round++) {
        char text[sizeof whole];
        rs_forms forms = {0};
        memcpy(text, whole, sizeof whole);
        text[below(&random, sizeof whole - 1)] = (char)("0129-\"{}[],:xyz\\"[below(&random, 16)]);
        const restride_status status = rs_forms_parse(&forms, text, sizeof whole - 1);
        assert_int_equal(forms.count, status == RESTRIDE_OK);
        for (size_t i = 0; status == RESTRIDE_OK && i < forms.kernels[0].argument_count; i++)
            assert_true(forms.kernels[0].arguments[i].index < forms.kernels[0].parameters);
        good += status == RESTRIDE_OK;
        rs_forms_free(&forms);
    }
    assert_true(good > 500); /* in names and reasons */
}

static void finds_no_ambiguous_kernel(void **state)
{
    (void)state;
    rs_forms forms = {0};
    char other[sizeof whole];
    memcpy(other, whole, sizeof whole);
    char *offset = strstr(other, "\"offset\": 8");
    assert_non_null(offset);
    offset[10] = '4';
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rs_forms_parse(&forms, whole, sizeof whole - 1), RESTRIDE_OK);
        assert_non_null(rs_forms_find(&forms, "_Z5localP1PPKfi"));
    }
    assert_int_equal(rs_forms_parse(&forms, other, sizeof other - 1), RESTRIDE_OK);
    assert_null(rs_forms_find(&forms, "_Z5localP1PPKfi"));
    assert_int_equal(forms.count, 1);
    rs_forms_free(&forms);
}

/* Names as nvcc 13 and clang 19 write them. */
static void knows_names(void **state)
{
    static const struct {
        const char *symbol, *plain;
    } cases[] = {
        {"step", "step"},
        {"_Z2k1P1P", "_Z2k1P1P"},
        {"_ZL2k1P1P", "_Z2k1P1P"},
        {"_ZN3simL5localEP1P", "_ZN3sim5localEP1P"},
        {"__nv_static_31__461d1cb8_4_x_cu_0a0157d0_29549__Z2k1P1P", "_Z2k1P1P"},
        {"_ZN42_GLOBAL__N__461d1cb8_4_x_cu_0a0157d0_275292k3I1PEEvPT_",
         "_ZN12_GLOBAL__N_12k3I1PEEvPT_"},
        {"_ZN12_GLOBAL__N_12k3I1PEEvPT_", "_ZN12_GLOBAL__N_12k3I1PEEvPT_"},
        {"_Z2k5IN42_GLOBAL__N__461d1cb8_4_x_cu_0a0157d0_275291QEEvPT_",
         "_Z2k5IN12_GLOBAL__N_11QEEvPT_"},
        {"__nv_static_31__461d1cb8_4_x_cu_0a0157d0_29549__Z2k5IN42_GLOBAL__N__461d1cb8_4_x_cu_"
         "0a0157d0_295491QEEvPT_",
         "_Z2k5IN12_GLOBAL__N_11QEEvPT_"},
        {"_Z5scaleIL4Mode1EEvP1P", "_Z5scaleIL4Mode1EEvP1P"},
        {"_ZN3sim5scaleIfLi3EEEvP1PPKS1_T_i", "_ZN3sim5scaleIfLi3EEEvP1PPKS1_T_i"},
        {"__nv_static_99__short", "__nv_static_99__short"},
        {"_ZN99_GLOBAL__N__short", "_ZN99_GLOBAL__N__short"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *plain = rs_name_plain(cases[i].symbol);
        assert_string_equal(plain, cases[i].plain);
        char *back = rs_name_beside(plain, cases[i].symbol);
        char *again = rs_name_plain(back);
        assert_string_equal(again, plain);
        free(back);
        free(again);
        free(plain);
    }
    char *second = rs_name_beside("_ZN12_GLOBAL__N_18k3__astaI1PEEvPT_", cases[5].symbol);
    assert_string_equal(second,
                        "_ZN42_GLOBAL__N__461d1cb8_4_x_cu_0a0157d0_275298k3__astaI1PEEvPT_");
    free(second);
    second = rs_name_beside("_Z8k1__astaP1P", cases[4].symbol);
    assert_string_equal(second, "__nv_static_31__461d1cb8_4_x_cu_0a0157d0_29549__Z8k1__astaP1P");
    free(second);
}

static void finds_what_is_loaded(void **state)
{
    (void)state;
    rs_forms forms = {0};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rs_forms_read_loaded(&forms), RESTRIDE_OK);
        assert_int_equal(forms.count, 1);
        assert_non_null(rs_forms_find(&forms, "_Z3ownP1P"));
    }
    rs_forms_free(&forms);
}

static void finds_what_is_linked(void **state)
{
    (void)state;
    rs_forms forms = {0};
    assert_int_equal(rs_forms_read_file(&forms, FORMS_PROGRAM), RESTRIDE_OK);
    assert_int_equal(forms.count, 1);
    assert_non_null(rs_forms_find(&forms, "_Z5otherP1P"));
    assert_int_equal(rs_forms_read_file(&forms, "/proc/self/exe"), RESTRIDE_OK);
    assert_int_equal(forms.count, 2);
    assert_int_equal(rs_forms_read_file(&forms, __FILE__), RESTRIDE_IO);
    rs_forms_free(&forms);
}

/* A program whose headers are damaged, or that ends early. */
static void reads_damaged_files(void **state)
{
    (void)state;
    uint64_t random = 21;
    rs_text file = RS_TEXT_EMPTY;
    char path[] = "/tmp/restride-forms-XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    assert_int_equal(rs_text_read_file(&file, FORMS_PROGRAM), RESTRIDE_OK);
    for (int round = 0; round < 500; round++) {
        rs_forms forms = {0};
        rs_text damaged = RS_TEXT_EMPTY;
        const size_t headers = 64 * 30; /* the last bytes are those of the sections */
        rs_text_add(&damaged, file.data, round % 4 == 0 ? below(&random, file.size) : file.size);
        for (int i = 0; i < 4 && damaged.size > headers; i++) {
            const size_t at = below(&random, i % 2 == 0 ? 64 : headers);
            damaged.data[i % 2 == 0 ? at : damaged.size - 1 - at] = (char)below(&random, 256);
        }
        if (damaged.size > 0)
            assert_int_equal(rs_text_write_file(path, damaged.data, damaged.size), RESTRIDE_OK);
        (void)rs_forms_read_file(&forms, path);
        assert_true(forms.count <= 1);
        rs_forms_free(&forms);
        rs_text_free(&damaged);
    }
    rs_text_free(&file);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_members),          cmocka_unit_test(reads_others),
        cmocka_unit_test(reads_members_of_two_words), cmocka_unit_test(reads_damaged_ones),
        cmocka_unit_test(finds_no_ambiguous_kernel),  cmocka_unit_test(knows_names),
        cmocka_unit_test(finds_what_is_loaded),       cmocka_unit_test(finds_what_is_linked),
        cmocka_unit_test(reads_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
