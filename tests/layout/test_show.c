/* restride show from outside: exit statuses, the caret, files and JSON. */
#include "cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[200000];

/* Runs restride show with these arguments; the result is the exit status, `output` what it wrote.
 */
static int show(const char *arguments)
{
    char command[1000];
    snprintf(command, sizeof command, "%s show %s 2>&1", RS_TEST_CLI, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_output(const char *words)
{
    if (strstr(output, words) == NULL)
        fail_msg("\"%s\" is not in:\n%s", words, output);
}

static void test_help(void **state)
{
    (void)state;
    assert_int_equal(show("--help"), 0);
    assert_output("usage: restride show EXPRESSION");
}

static void test_small_dimensions_by_default(void **state)
{
    (void)state;
    assert_int_equal(show("'f i'"), 0);
    assert_output("of \"i:4 f:3\": 12 elements");
    assert_int_equal(show("'i/4 f i%4'"), 0);
    assert_output("of \"i:10 f:3\"");
    assert_output("(ragged: 2 of 4)");
    assert_int_equal(show("'c%8 r c/8'"), 0); /* not in descending order: no ragged tile */
    assert_output("of \"r:4 c:16\"");
    assert_int_equal(show("'y/32 x/128 e y%32 x%128'"), 0);
    assert_output("of \"y:80 x:320 e:3\"");
    assert_int_equal(strchr(output, '\033') == NULL, 1);
}

static void test_layouts_over_processes(void **state)
{
    (void)state;
    assert_int_equal(show("'@r/3 r%3 c' --dims 'r:7 c:4 float' --to '@c/2 c%2 r'"), 0);
    assert_output("of \"r:7 c:4 float\": 3 processes.");
    assert_output("1:4     1:5     1:6     1:7");
    assert_output("process 2: 4 = r:1 c:4");
    assert_output("from 0          24        24");
    assert_output("from 2           8         8");
    assert_int_equal(show("'@r/3 r%3 c' --dims 'r:7 c:4' --to '@c/2 c%2 r' --json"), 0);
    json_t *told = json_loads(output, 0, NULL);
    assert_non_null(told);
    assert_int_equal(json_integer_value(json_object_get(told, "processes")), 3);
    assert_int_equal(
        json_integer_value(json_array_get(json_array_get(json_object_get(told, "messages"), 1), 1)),
        6);
    json_decref(told);
    assert_int_equal(show("'@i/4 i%4 f' --dims 'i:6 f{ char c; int k; }'"), 0);
    assert_output("process 1: 16 = i:2 f:4");
    assert_int_equal(show("'@r/3 r c' --dims 'r:7 c:4'"), 2);
    assert_output("^");
    assert_int_equal(show("'@r/3 r%3 c' --accessors cpp --dims 'r:7 c:4 float'"), 2);
    assert_output("has no accessors");
    assert_int_equal(
        show("'@r/3 r%3 c' --dims 'r:7 c:4 float' --to '@c/2 c%2 r' --svg /dev/stdout"), 0);
    assert_output("who sends how many bytes to whom");
    assert_output(">24 stay<");
    assert_output("class=\"in\">8</text>\n</svg>");
}

static void test_accessors(void **state)
{
    (void)state;
    assert_int_equal(show("'i/32 f i%32' --dims 'i:1 f{ float x; }' --accessors cpp --name B"), 0);
    assert_output("class B\n");
    assert_output("reference ref(unsigned long long index_i) const");
    assert_int_equal(show("'i f' --dims 'i:1 f{ float x; }' --accessors cuda"), 0);
    assert_output("__host__ __device__ reference ref(");
    assert_int_equal(show("'i f' --dims 'i:1 f{ float x; }' --accessors c"), 2);
    assert_output("takes cpp or cuda");
    assert_int_equal(show("'i f' --accessors cpp"), 2);
    assert_output("needs --dims");
    assert_int_equal(show("'i f' --name B"), 2);
    assert_int_equal(show("'i f' --dims 'i:1 f:3' --accessors cpp"), 1);
    assert_output("say the type of elements");
    assert_int_equal(show("'i f' --dims 'i:1 f:3 int' --accessors cpp --name 3"), 1);
    assert_output("is not a C identifier");
}

static void test_mistakes_get_a_caret(void **state)
{
    (void)state;
    assert_int_equal(show("'i/32 g i%3'"), 2);
    assert_output("restride show: At character 8 of the layout \"i/32 g i%3\": ");
    assert_output("\n    i/32 g i%3\n           ^\n");
    assert_int_equal(show("'i f' --dims 'i:3 f{ quad x; }'"), 2);
    assert_output("\n    i:3 f{ quad x; }\n           ^\n");
    assert_int_equal(show("'i j' --dims 'i:4294967296 j:4294967296'"), 2);
    assert_output("does not fit into 64 bits");
    assert_int_equal(show("'' "), 2);
    assert_output("it is empty");
}

static void test_bad_usage(void **state)
{
    (void)state;
    assert_int_equal(show(""), 2);
    assert_output("A layout is missing");
    assert_int_equal(show("i f"), 2);
    assert_output("put it into quotes");
    assert_int_equal(show("'i f' --dims"), 2);
    assert_output("--dims needs a value");
    assert_int_equal(show("'i f' --colour"), 2);
    assert_output("--colour is not an option");
}

static void test_svg_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/restride-show-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char arguments[200], path[100];
    snprintf(path, sizeof path, "%s/a.svg", folder);
    snprintf(arguments, sizeof arguments, "'i/4 f i%%4' --svg %s", path);
    assert_int_equal(show(arguments), 0);
    assert_string_equal(output, "");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    output[fread(output, 1, sizeof output - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(strncmp(output, "<svg ", 5), 0);
    assert_output("</svg>");
    unlink(path);
    rmdir(folder);
    assert_int_equal(show("'i f' --svg /nonexistent/a.svg"), 1);
    assert_output("/nonexistent/a.svg could not be written");
}

static void test_json(void **state)
{
    (void)state;
    assert_int_equal(show("'i/32 f i%32' --dims 'i:40 f{ float x; double m; }' --json"), 0);
    json_error_t error;
    json_t *json = json_loads(output, 0, &error);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "form")), "ASTA");
    assert_int_equal(json_integer_value(json_object_get(json, "tile")), 32);
    assert_int_equal(json_integer_value(json_object_get(json, "size")), 640);
    json_t *record =
        json_object_get(json_array_get(json_object_get(json, "dimensions"), 1), "record");
    assert_int_equal(json_array_size(json_object_get(record, "leaves")), 3);
    json_t *second = json_array_get(json_object_get(json, "memory"), 33);
    assert_int_equal(json_integer_value(json_object_get(second, "offset")), 132);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(second, "index"), 0)), 1);
    assert_true(json_is_true(json_object_get(second, "padding")));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),      cmocka_unit_test(test_small_dimensions_by_default),
        cmocka_unit_test(test_bad_usage), cmocka_unit_test(test_layouts_over_processes),
        cmocka_unit_test(test_accessors), cmocka_unit_test(test_mistakes_get_a_caret),
        cmocka_unit_test(test_svg_files), cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
