/* Headers of .npy files: what is understood, what is refused, and headers written in place. */
#include "cmocka_all.h"
#include "file/npy.h"
#include "restride/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 };

/* A file's beginning: the dictionary padded to `padded` bytes with its newline. */
typedef struct {
    unsigned char bytes[MOST_BYTES];
    size_t size;
} header;

static header make_header(unsigned char version, const char *dictionary, size_t padded)
{
    header h = {{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}, 0};
    size_t prefix = version == 1 ? 10 : 12;
    size_t length = strlen(dictionary) + 1;
    size_t room = padded > length ? padded : length;
    for (size_t i = 8; i < prefix; i++)
        h.bytes[i] = (unsigned char)(room >> 8 * (i - 8));
    memset(h.bytes + prefix, ' ', room);
    memcpy(h.bytes + prefix, dictionary, length - 1);
    h.size = prefix + room;
    h.bytes[h.size - 1] = '\n';
    return h;
}

static restride_status read_dictionary(rs_npy *npy, const char *dictionary, size_t data_bytes)
{
    header h = make_header(1, dictionary, 118);
    return rs_npy_read(npy, "a.npy", h.bytes, h.size, h.size + data_bytes);
}

static void assert_refused(const char *dictionary, restride_status status, const char *sentence)
{
    rs_npy npy;
    assert_int_equal(read_dictionary(&npy, dictionary, 1 << 20), status);
    if (strstr(restride_last_error(), sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), sentence);
    assert_non_null(strstr(restride_last_error(), "a.npy"));
    assert_null(npy.type);
}

static void test_plain(void **state)
{
    (void)state;
    for (unsigned char version = 1; version <= 3; version++) {
        header h = make_header(version,
                               "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", 118);
        rs_npy npy;
        assert_int_equal(rs_npy_read(&npy, "a.npy", h.bytes, h.size, h.size + 96), RESTRIDE_OK);
        assert_int_equal(npy.header_bytes, h.size);
        assert_int_equal(npy.item_bytes, 8);
        assert_int_equal(npy.rank, 2);
        assert_int_equal(npy.shape[0], 3);
        assert_int_equal(npy.shape[1], 4);
        assert_int_equal(npy.data_bytes, 96);
        assert_false(npy.fortran_order);
        assert_false(npy.structured);
        assert_string_equal(npy.type, "'<f8'");
        rs_npy_free(&npy);
    }
}

static void test_sizes_of_types(void **state)
{
    (void)state;
    const struct {
        const char *type;
        size_t bytes;
    } types[] = {
        {"'|b1'", 1},
        {"'|u1'", 1},
        {"'<i2'", 2},
        {"'>i2'", 2},
        {"'<f2'", 2},
        {"'>f4'", 4},
        {"\"<f8\"", 8},
        {"'<c16'", 16},
        {"'<f16'", 16},
        {"'<c32'", 32},
        {"'|S5'", 5},
        {"'<U3'", 12},
        {"'|V7'", 7},
        {"'<M8[ns]'", 8},
        {"'<m8[25s]'", 8},
        {"[('x', '<f4'), ('y', '<f8')]", 12},
        {"[('x', '<f4', (2, 3)), ('', '|V4'), ('n', [('a', '|u1'), ('b', '<i2', (1,))])]", 31},
        {"[(('title', 'x'), '<f4'), ('y', '<f4', 3)]", 16},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char dictionary[400];
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': %s, 'fortran_order': True, 'shape': (2L,)}", types[i].type);
        rs_npy npy;
        assert_int_equal(read_dictionary(&npy, dictionary, 1000), RESTRIDE_OK);
        assert_int_equal(npy.item_bytes, types[i].bytes);
        assert_string_equal(npy.type, types[i].type);
        assert_int_equal(npy.structured, types[i].type[0] == '[');
        assert_true(npy.fortran_order);
        rs_npy_free(&npy);
    }
}

#define ARRAY(type, shape) "{'descr': " type ", 'fortran_order': False, 'shape': " shape ", }"

static void test_refused(void **state)
{
    (void)state;
    assert_refused(ARRAY("'|O'", "(3,)"), RESTRIDE_UNSUPPORTED, "Python objects");
    assert_refused(ARRAY("'|O8'", "(3,)"), RESTRIDE_UNSUPPORTED, "Python objects");
    assert_refused(ARRAY("[('a', '<f4'), ('b', '|O')]", "(3,)"), RESTRIDE_UNSUPPORTED,
                   "Python objects");
    assert_refused(ARRAY("'<f8'", "()"), RESTRIDE_UNSUPPORTED, "a single value without axes");
    assert_refused(ARRAY("'<f8'", "(3, 0)"), RESTRIDE_UNSUPPORTED,
                   "empty: the extent of its axis 1");
    assert_refused(ARRAY("'|S0'", "(3,)"), RESTRIDE_UNSUPPORTED, "have no bytes");
    assert_refused(ARRAY("'<q8'", "(3,)"), RESTRIDE_UNSUPPORTED, "\"<q8\" that is not known");
    assert_refused(ARRAY("'<f'", "(3,)"), RESTRIDE_UNSUPPORTED, "not known");
    assert_refused(ARRAY("''", "(3,)"), RESTRIDE_UNSUPPORTED, "not known");
    assert_refused(ARRAY("'<f8x'", "(3,)"), RESTRIDE_UNSUPPORTED, "not known");
    assert_refused(ARRAY("'<f99999999999999999999'", "(3,)"), RESTRIDE_UNSUPPORTED, "not known");
    assert_refused(ARRAY("'<f8'", "(1000000,)"), RESTRIDE_IO, "shorter than its header says");
    assert_refused(ARRAY("'<f8'", "(4294967296, 4294967296)"), RESTRIDE_OVERFLOW, "size holds");
    assert_refused(ARRAY("'<f8'", "(99999999999999999999,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("'<f8'", "(-3,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("'<f8'", "(3 4)"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("'<f8'", "3"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("'<f8", "(3,)"), RESTRIDE_UNSUPPORTED, "not known");
    assert_refused("{'descr': '<f8", RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("[('a', '<f4'", "(3,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("[['a', '<f4']]", "(3,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused("{'descr': '<f8', 'shape': (3,)}", RESTRIDE_SYNTAX, "lacks one of");
    assert_refused("{'descr': '<f8', 'descr': '<f8'}", RESTRIDE_SYNTAX, "there twice");
    assert_refused("{'colour': '<f8'}", RESTRIDE_SYNTAX, "\"colour\"");
    assert_refused("{'fortran_order': 1}", RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("'<f8'", "(3,)") " more", RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("[('a\\\\', '<f4')]", "(3,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused(ARRAY("[('a\x01', '<f4')]", "(3,)"), RESTRIDE_SYNTAX, "understood");
    assert_refused("{", RESTRIDE_SYNTAX, "understood");
    assert_refused("", RESTRIDE_SYNTAX, "understood");
    assert_refused("{'\xC3\xA9': 1}", RESTRIDE_SYNTAX, "unknown");
}

static void test_deep_nesting(void **state)
{
    (void)state;
    char type[1000] = "";
    for (int i = 0; i < 40; i++)
        strcat(type, "[('a', ");
    char dictionary[1200];
    snprintf(dictionary, sizeof dictionary, ARRAY("%s", "(3,)"), type);
    assert_refused(dictionary, RESTRIDE_UNSUPPORTED, "nested more than");
}

static void assert_not_npy(const char *bytes, size_t size, restride_status status,
                           const char *sentence)
{
    rs_npy npy;
    assert_int_equal(rs_npy_read(&npy, "a.npy", bytes, size, size), status);
    if (strstr(restride_last_error(), sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), sentence);
}

static void test_other_files(void **state)
{
    (void)state;
    assert_not_npy("PK\003\004abcdefgh", 12, RESTRIDE_SYNTAX, ".npz archive");
    assert_not_npy("\037\213abcdefghij", 12, RESTRIDE_SYNTAX, "gzip");
    assert_not_npy("hello, world", 12, RESTRIDE_SYNTAX, "numpy.save");
    assert_not_npy("", 0, RESTRIDE_SYNTAX, "numpy.save");
    assert_not_npy("\223NUMPY\001\000\020", 9, RESTRIDE_SYNTAX, "--shape");
    assert_not_npy("\223NUMPY\001\000\020\000", 10, RESTRIDE_IO, "header has 26 bytes");
    assert_not_npy("\223NUMPY\002\000\020\000", 10, RESTRIDE_IO, "ends inside");
    assert_not_npy("\223NUMPY\002\000\377\377\377\377", 12, RESTRIDE_IO, "header has");
    assert_not_npy("\223NUMPY\004\000\020\000\000\000", 12, RESTRIDE_UNSUPPORTED, "version 4.0");
    assert_not_npy("\223NUMPY\000\000\020\000\000\000", 12, RESTRIDE_UNSUPPORTED, "version 0.0");
}

static void test_every_truncation(void **state)
{
    (void)state;
    header h = make_header(1, ARRAY("'<f8'", "(3, 4)"), 118);
    for (size_t size = 0; size < h.size + 96; size++) {
        rs_npy npy;
        size_t available = size < h.size ? size : h.size;
        assert_int_not_equal(rs_npy_read(&npy, "a.npy", h.bytes, available, size), RESTRIDE_OK);
    }
}

static void test_write(void **state)
{
    (void)state;
    const size_t shape[] = {4, 3};
    for (unsigned char version = 1; version <= 3; version++) {
        const char *dictionary = ARRAY("'<f8'", "(3, 4)");
        header h = make_header(version, dictionary, 118);
        rs_npy npy;
        char made[200] = {0};
        assert_int_equal(rs_npy_read(&npy, "a.npy", h.bytes, h.size, h.size + 96), RESTRIDE_OK);
        assert_int_equal(rs_npy_write(&npy, "a.npy", 2, shape, true, made), RESTRIDE_OK);
        rs_npy_free(&npy);
        header wanted =
            make_header(version, "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 3), }", 118);
        assert_memory_equal(made, wanted.bytes, wanted.size);
        assert_int_equal(made[wanted.size], 0);
        /* The old shape gives the old bytes back. */
        const size_t old[] = {3, 4};
        assert_int_equal(rs_npy_read(&npy, "a.npy", made, wanted.size, 1000), RESTRIDE_OK);
        assert_int_equal(rs_npy_write(&npy, "a.npy", 2, old, false, made), RESTRIDE_OK);
        rs_npy_free(&npy);
        assert_memory_equal(made, h.bytes, h.size);
    }
}

static void test_write_one_axis(void **state)
{
    (void)state;
    const size_t shape[] = {12};
    rs_npy npy;
    char made[200];
    assert_int_equal(read_dictionary(&npy, ARRAY("'<f8'", "(3, 4)"), 96), RESTRIDE_OK);
    assert_int_equal(rs_npy_write(&npy, "a.npy", 1, shape, false, made), RESTRIDE_OK);
    header wanted = make_header(1, ARRAY("'<f8'", "(12,)"), 118);
    assert_memory_equal(made, wanted.bytes, wanted.size);
    rs_npy_free(&npy);
}

static void test_no_room(void **state)
{
    (void)state;
    const size_t longer[] = {1, 1, 12};
    rs_npy npy;
    char made[200];
    header h = make_header(1, "{'descr':'<f8','fortran_order':False,'shape':(3,4)}", 0);
    assert_int_equal(rs_npy_read(&npy, "a.npy", h.bytes, h.size, 1000), RESTRIDE_OK);
    assert_int_equal(rs_npy_write(&npy, "a.npy", 3, longer, false, made), RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "has room for"));
    rs_npy_free(&npy);
}

typedef struct {
    const char *name;
    size_t offset;
    size_t size;
} expected_leaf;

static void assert_record(const char *type, size_t size, const expected_leaf *leaves, size_t count)
{
    char dictionary[400];
    snprintf(dictionary, sizeof dictionary, ARRAY("%s", "(2,)"), type);
    rs_npy npy;
    rs_record record;
    assert_int_equal(read_dictionary(&npy, dictionary, 1000), RESTRIDE_OK);
    if (rs_npy_record(&npy, "a.npy", &record) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_int_equal(record.size, size);
    assert_int_equal(record.leaf_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(record.leaves[i].offset, leaves[i].offset);
        assert_int_equal(record.leaves[i].size, leaves[i].size);
        assert_int_equal(record.leaves[i].padding, leaves[i].name == NULL);
        if (leaves[i].name != NULL)
            assert_string_equal(record.leaves[i].name, leaves[i].name);
    }
    rs_record_free(&record);
    rs_npy_free(&npy);
}

static void test_records(void **state)
{
    (void)state;
    const expected_leaf flat[] = {{"x", 0, 4}, {NULL, 4, 4}, {"m", 8, 8}};
    assert_record("[('x', '<f4'), ('', '|V4'), ('m', '>f8')]", 16, flat, 3);
    const expected_leaf nested[] = {{"p.x", 0, 4},     {"p.y", 4, 4},     {"v[0]", 8, 2},
                                    {"v[1]", 10, 2},   {"n[0].a", 12, 1}, {NULL, 13, 1},
                                    {"n[1].a", 14, 1}, {NULL, 15, 1}};
    assert_record("[('p', [('x', '<f4'), ('y', '<f4')]), ('v', '<i2', (2, 1)), "
                  "('n', [('a', '|u1'), ('', '|V1')], 2)]",
                  16, nested, 8);
    /* The name and not the title. */
    const expected_leaf titled[] = {{"x", 0, 4}};
    assert_record("[(('a title', 'x'), '<f4')]", 4, titled, 1);
    /* A thousand million elements of padding alone are no work. */
    const expected_leaf padded[] = {{"x", 0, 1}, {NULL, 1, 1}};
    assert_record("[('x', '|u1'), ('a', [('', '|V0')], (1000000000,)), ('', '|V1')]", 2, padded, 2);
}

/* NumPy packs the members of a structure unless it is told to align them. */
static void test_packed_records(void **state)
{
    (void)state;
    const expected_leaf late[] = {{"x", 0, 4}, {"m", 4, 8}};
    assert_record("[('x', '<f4'), ('m', '<f8')]", 12, late, 2);
    const expected_leaf short_end[] = {{"m", 0, 8}, {"x", 8, 4}};
    assert_record("[('m', '<f8'), ('x', '<f4')]", 12, short_end, 2);
    const expected_leaf gap[] = {
        {"c", 0, 1}, {"m", 1, 8}, {NULL, 9, 1}, {NULL, 10, 1}, {"h", 11, 2}};
    assert_record("[('c', '|i1'), ('m', '<f8'), ('', '|V2'), ('h', '<i2')]", 13, gap, 5);
}

static void assert_no_record(const char *type, const char *sentence)
{
    char dictionary[400];
    snprintf(dictionary, sizeof dictionary, ARRAY("%s", "(1,)"), type);
    rs_npy npy;
    rs_record record;
    header h = make_header(1, dictionary, 400);
    assert_int_equal(rs_npy_read(&npy, "a.npy", h.bytes, h.size, (size_t)1 << 40), RESTRIDE_OK);
    assert_int_not_equal(rs_npy_record(&npy, "a.npy", &record), RESTRIDE_OK);
    if (strstr(restride_last_error(), sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), sentence);
    rs_npy_free(&npy);
}

static void test_no_records(void **state)
{
    (void)state;
    assert_no_record("[('x', '|u1', (1000000,))]", "more than 65536 members");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),          cmocka_unit_test(test_sizes_of_types),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_other_files),    cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_write),          cmocka_unit_test(test_write_one_axis),
        cmocka_unit_test(test_no_room),        cmocka_unit_test(test_records),
        cmocka_unit_test(test_packed_records), cmocka_unit_test(test_no_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
