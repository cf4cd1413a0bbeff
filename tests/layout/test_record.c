/* Records: leaves and padding cover a structure exactly once; what cannot be one is refused. */
#include "cmocka_all.h"
#include "layout/record.h"

#include <string.h>

typedef struct {
    const char *name;
    size_t offset;
    size_t size;
} member;

/* Builds a record of up to four members; a member of no name ends the list. */
static restride_status build(rs_record *record, const member members[4], size_t size,
                             size_t alignment)
{
    *record = (rs_record){.size = 0};
    for (int i = 0; i < 4 && members[i].name != NULL; i++)
        assert_int_equal(
            rs_record_add_leaf(record, members[i].name, members[i].offset, members[i].size),
            RESTRIDE_OK);
    return rs_record_complete(record, size, alignment);
}

static void assert_covers_exactly_once(const rs_record *record)
{
    size_t end = 0;
    for (size_t i = 0; i < record->leaf_count; i++) {
        const rs_leaf *leaf = &record->leaves[i];
        assert_int_equal(leaf->offset, end);
        assert_int_equal(leaf->padding, leaf->name == NULL);
        if (leaf->padding) {
            assert_int_equal(leaf->size & (leaf->size - 1), 0);
            assert_int_equal(leaf->offset % leaf->size, 0);
            assert_int_equal(record->size % leaf->size, 0);
        }
        end += leaf->size;
    }
    assert_int_equal(end, record->size);
}

static void test_gaps_become_aligned_padding(void **state)
{
    (void)state;
    rs_record record;
    const member members[4] = {{"kind", 0, 1}, {"m", 8, 8}, {"id", 16, 2}};
    assert_int_equal(build(&record, members, 24, 8), RESTRIDE_OK);
    assert_covers_exactly_once(&record);
    /* kind, 1+2+4 bytes of padding, m, id, 2+4 bytes of padding */
    const size_t sizes[] = {1, 1, 2, 4, 8, 2, 2, 4};
    assert_int_equal(record.leaf_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(record.leaves[i].size, sizes[i]);
    assert_string_equal(record.leaves[4].name, "m");
    rs_record_free(&record);
    assert_null(record.leaves);
}

static void test_padding_is_no_larger_than_the_alignment(void **state)
{
    (void)state;
    rs_record record;
    const member members[4] = {{"id", 0, 4}};
    assert_int_equal(build(&record, members, 20, 4), RESTRIDE_OK);
    assert_covers_exactly_once(&record);
    assert_int_equal(record.leaf_count, 5);
    rs_record_free(&record);
}

static void test_odd_sizes_need_only_their_power_of_two(void **state)
{
    (void)state;
    rs_record record;
    const member members[4] = {{"rgb", 1, 3}, {"x", 4, 12}};
    assert_int_equal(build(&record, members, 16, 4), RESTRIDE_OK);
    assert_covers_exactly_once(&record);
    rs_record_free(&record);
}

static void test_padding_without_end_is_refused(void **state)
{
    (void)state;
    rs_record record = {0};
    assert_int_equal(rs_record_add_leaf(&record, "a", 0, 1), RESTRIDE_OK);
    assert_int_equal(rs_record_complete(&record, (size_t)1 << 40, 1), RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "padding included"));
    rs_record_free(&record);
}

static void test_completing_twice_changes_nothing(void **state)
{
    (void)state;
    rs_record record, copy;
    const member members[4] = {{"a", 0, 1}, {"b", 4, 4}};
    assert_int_equal(build(&record, members, 8, 4), RESTRIDE_OK);
    assert_int_equal(rs_record_copy(&copy, &record), RESTRIDE_OK);
    assert_int_equal(rs_record_complete(&record, 8, 4), RESTRIDE_OK);
    assert_true(rs_record_equal(&record, &copy));
    assert_ptr_not_equal(record.leaves[0].name, copy.leaves[0].name);
    rs_record_free(&copy);
    rs_record_free(&record);
}

static void test_equality_ignores_names_alone(void **state)
{
    (void)state;
    rs_record a, b, c, d, e;
    assert_int_equal(build(&a, (const member[4]){{"x", 0, 4}, {"y", 4, 4}}, 8, 4), RESTRIDE_OK);
    assert_int_equal(build(&b, (const member[4]){{"u", 0, 4}, {"v", 4, 4}}, 8, 4), RESTRIDE_OK);
    assert_int_equal(build(&c, (const member[4]){{"x", 0, 4}, {"y", 4, 2}}, 8, 4), RESTRIDE_OK);
    assert_int_equal(build(&d, (const member[4]){{"x", 0, 4}}, 8, 4), RESTRIDE_OK);
    assert_int_equal(build(&e, (const member[4]){{"x", 0, 4}, {"y", 4, 4}}, 8, 8), RESTRIDE_OK);
    assert_true(rs_record_equal(&a, &b));
    assert_false(rs_record_equal(&a, &c));
    assert_false(rs_record_equal(&a, &e)); /* the same bytes, but for alignment */
    assert_false(rs_record_equal(&a, &d)); /* the same bytes, but the second is padding */
    rs_record_free(&a);
    rs_record_free(&b);
    rs_record_free(&c);
    rs_record_free(&d);
    rs_record_free(&e);
}

typedef struct {
    member members[4];
    size_t size;
    size_t alignment;
    const char *words; /* in the sentence */
} refused;

static const refused refused_records[] = {
    {{{"x", 0, 4}, {"y", 2, 2}}, 8, 4, "\"y\" at byte 2 overlaps"},
    {{{"y", 4, 4}, {"x", 0, 4}}, 8, 4, "\"x\" at byte 0 overlaps"},
    {{{"c", 0, 1}, {"packed", 1, 4}}, 8, 4, "\"packed\" of 4 bytes lies at byte 1"},
    {{{"v", 4, 12}, {"odd", 18, 12}}, 32, 4, "\"odd\" of 12 bytes lies at byte 18"},
    {{{"d", 0, 8}}, 12, 4, "\"d\" of 8 bytes needs an alignment of 8"},
    {{{"x", 0, 4}, {"far", 8, 8}}, 12, 4, "\"far\" of 8 bytes at byte 8 reaches past the end"},
    {{{"far", SIZE_MAX - 3, 4}}, 8, 4, "\"far\""},
    {{{"none", 0, 0}}, 8, 4, "\"none\" has 0 bytes"},
    {{{"x", 0, 4}}, 0, 4, "0 bytes"},
    {{{"x", 0, 4}}, 6, 4, "not a multiple of its alignment"},
    {{{"x", 0, 4}}, 12, 3, "not a power of two"},
    {{{"x", 0, 4}}, 12, 0, "not a power of two"},
};

static void test_refusals_name_the_leaf(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_records / sizeof refused_records[0]; i++) {
        const refused *refusal = &refused_records[i];
        rs_record record;
        assert_int_equal(build(&record, refusal->members, refusal->size, refusal->alignment),
                         RESTRIDE_INVALID_ARGUMENT);
        if (strstr(restride_last_error(), refusal->words) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", restride_last_error(), refusal->words);
        assert_string_equal(record.leaves[0].name, refusal->members[0].name);
        rs_record_free(&record);
    }
}

static void test_a_leaf_needs_a_name(void **state)
{
    (void)state;
    rs_record record = {.size = 0};
    assert_int_equal(rs_record_add_leaf(&record, NULL, 0, 4), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(record.leaf_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps_become_aligned_padding),
        cmocka_unit_test(test_padding_is_no_larger_than_the_alignment),
        cmocka_unit_test(test_odd_sizes_need_only_their_power_of_two),
        cmocka_unit_test(test_padding_without_end_is_refused),
        cmocka_unit_test(test_completing_twice_changes_nothing),
        cmocka_unit_test(test_equality_ignores_names_alone),
        cmocka_unit_test(test_refusals_name_the_leaf),
        cmocka_unit_test(test_a_leaf_needs_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
