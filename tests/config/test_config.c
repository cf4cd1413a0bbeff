/* Configuration files: what is read, and which line a wrong one is refused for. */
#include "config/config.h"

#include "cmocka_all.h"

#include <string.h>

static json_t *parse(const char *text)
{
    json_t *config = NULL;
    if (rs_config_parse(text, strlen(text), "test.ini", &config) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return config;
}

static const char *value_of(const json_t *config, const char *part, const char *key)
{
    const char *value = json_string_value(json_object_get(json_object_get(config, part), key));
    if (value == NULL)
        fail_msg("%s has no %s", part, key);
    return value;
}

static void test_everything(void **state)
{
    (void)state;
    json_t *config = parse("# a comment\n"
                           "policy = auto   ; the default\n"
                           "tile=64\n\n"
                           "[move]\n"
                           ".policy = off\n"
                           "particles = i/32 f i%32\n"
                           "grid = grid[n][N_CELL + 1] : f i\n"
                           "cells: [n][20]\n"
                           "planes = SoA: planes[N_CELL][n * m] : i/8 f i%8\n"
                           "parts = SoA:[3][n]\n"
                           "plain = f[global_size(0)]\n"
                           "[*]\r\n"
                           "atoms = f i\r\n");
    assert_string_equal(value_of(config, "options", "policy"), "auto");
    assert_string_equal(value_of(config, "options", "tile"), "64");
    const json_t *move = json_object_get(json_object_get(config, "kernels"), "move");
    assert_string_equal(json_string_value(json_object_get(move, "policy")), "off");
    assert_string_equal(value_of(config, "layouts", "move.particles"), "i/32 f i%32");
    assert_string_equal(value_of(config, "layouts", "move.grid"), "f i");
    assert_string_equal(value_of(config, "records", "move.grid"), "N_CELL + 1");
    assert_string_equal(value_of(config, "records", "move.cells"), "20");
    assert_string_equal(value_of(config, "records", "move.planes"), "SoA: [N_CELL][n * m]");
    assert_string_equal(value_of(config, "layouts", "move.planes"), "i/8 f i%8");
    assert_string_equal(value_of(config, "records", "move.parts"), "SoA: [3][n]");
    assert_string_equal(value_of(config, "layouts", "atoms"), "f i");
    assert_string_equal(value_of(config, "places", "move.grid"), "test.ini:8");
    assert_string_equal(value_of(config, "places", "atoms"), "test.ini:14");
    assert_int_equal(json_object_size(json_object_get(config, "layouts")), 4);
    assert_int_equal(json_object_size(json_object_get(config, "records")), 4);
    json_decref(config);
    json_decref(parse(""));
}

static void test_wrong_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence;
    } wrong[] = {
        {"[move]\na = i g\n", "test.ini:2: the value of a is neither a layout"},
        {"[move]\npolicy = off\n",
         "policy is no layout; the policy of one kernel is written .policy"},
        {"[move]\na = i/32 f\n", "test.ini:2: the value of a is neither a layout"},
        {"[move]\na =\n", "test.ini:2: a has no value"},
        {"[move]\n\na[0] = f i\n", "test.ini:3: a[0] is not the name of an argument"},
        {"[move]\na = [n][20\n", "test.ini:2: the dimensions of a are not of the form"},
        {"[move]\na = [n][20] f i\n", "test.ini:2: the dimensions of a are not of the form"},
        {"[move]\na = [n][20] : f\n", "test.ini:2: the value of a is neither a layout"},
        {"[move]\na = SoA: a[20]\n", "test.ini:2: the dimensions of a are not of the form"},
        {"[move]\na = SoA: f i\n", "test.ini:2: the dimensions of a are not of the form"},
        {"[two kernels]\na = f i\n", "test.ini:2: [two kernels] is neither a kernel's name"},
        {"[*]\n.policy = off\n", "test.ini:2: .policy belongs to one kernel"},
        {"tile = 1\ntile = 2\n", "test.ini:2: tile is given twice"},
        {"[a]\nb = f i\n[a]\nb = f i\n", "test.ini:4: a.b is given twice"},
        {"tile 32\n", "test.ini:1: this is neither a section nor KEY = VALUE."},
        {"[move\n", "test.ini:1: this is neither a section nor KEY = VALUE."},
        {"a = \xff\n", "test.ini:1: the value of a is not a text in UTF-8"},
        {"two words = 1\n", "test.ini:1: two words is not the name of an option"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *config = NULL;
        assert_int_equal(rs_config_parse(wrong[i].text, strlen(wrong[i].text), "test.ini", &config),
                         RESTRIDE_SYNTAX);
        assert_null(config);
        if (strstr(restride_last_error(), wrong[i].sentence) == NULL)
            fail_msg("%s: %s", wrong[i].text, restride_last_error());
    }
}

static void test_long_lines_and_zero_bytes(void **state)
{
    (void)state;
    char text[1024] = "tile = 1\n# ";
    memset(text + strlen(text), 'x', 600);
    json_t *config = NULL;
    assert_int_equal(rs_config_parse(text, strlen(text), "test.ini", &config), RESTRIDE_SYNTAX);
    assert_non_null(strstr(restride_last_error(), "test.ini:2: The line is longer"));
    assert_int_equal(rs_config_parse("a = 1\0\n", 7, "test.ini", &config), RESTRIDE_SYNTAX);
    assert_int_equal(rs_config_read("/nowhere/at/all", &config), RESTRIDE_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_long_lines_and_zero_bytes),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
