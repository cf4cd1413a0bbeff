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

/* Runs, each with its exit status and what it writes among the rest. */
enum { MOST_WORDS = 5 };
static const struct {
    const char *arguments;
    int status;
    const char *words[MOST_WORDS];
} runs[] = {
    {"--help", 0, {"usage: restride show EXPRESSION"}},
    /* Small dimensions by default. */
    {"'f i'", 0, {"of \"i:4 f:3\": 12 elements"}},
    {"'i/4 f i%4'", 0, {"of \"i:10 f:3\"", "(ragged: 2 of 4)"}},
    {"'c%8 r c/8'", 0, {"of \"r:4 c:16\""}}, /* not in descending order: no ragged tile */
    {"'y/32 x/128 e y%32 x%128'", 0, {"of \"y:80 x:320 e:3\""}},
    /* Layouts over processes. */
    {"'@r/3 r%3 c' --dims 'r:7 c:4 float' --to '@c/2 c%2 r'",
     0,
     {"of \"r:7 c:4 float\": 3 processes.", "1:4     1:5     1:6     1:7", "process 2: 4 = r:1 c:4",
      "from 0          24        24", "from 2           8         8"}},
    {"'@i/4 i%4 f' --dims 'i:6 f{ char c; int k; }'", 0, {"process 1: 16 = i:2 f:4"}},
    {"'@r/3 r c' --dims 'r:7 c:4'", 2, {"^"}},
    {"'@r/3 r%3 c' --accessors cpp --dims 'r:7 c:4 float'", 2, {"has no accessors"}},
    {"'@r/3 r%3 c' --dims 'r:7 c:4 float' --to '@c/2 c%2 r' --svg /dev/stdout",
     0,
     {"who sends how many bytes to whom", ">24 stay<", "class=\"in\">8</text>\n</svg>"}},
    /* Accessors. */
    {"'i/32 f i%32' --dims 'i:1 f{ float x; }' --accessors cpp --name B",
     0,
     {"class B\n", "reference ref(unsigned long long index_i) const"}},
    {"'i f' --dims 'i:1 f{ float x; }' --accessors cuda",
     0,
     {"__host__ __device__ reference ref("}},
    {"'i f' --dims 'i:1 f{ float x; }' --accessors c", 2, {"takes cpp or cuda"}},
    {"'i f' --accessors cpp", 2, {"needs --dims"}},
    {"'i f' --name B", 2, {""}},
    {"'i f' --dims 'i:1 f:3' --accessors cpp", 1, {"say the type of elements"}},
    {"'i f' --dims 'i:1 f:3 int' --accessors cpp --name 3", 1, {"is not a C identifier"}},
    /* Mistakes get a caret. */
    {"'i/32 g i%3'",
     2,
     {"restride show: At character 8 of the layout \"i/32 g i%3\": ",
      "\n    i/32 g i%3\n           ^\n"}},
    {"'i f' --dims 'i:3 f{ quad x; }'", 2, {"\n    i:3 f{ quad x; }\n           ^\n"}},
    {"'i j' --dims 'i:4294967296 j:4294967296'", 2, {"does not fit into 64 bits"}},
    {"'' ", 2, {"it is empty"}},
    /* Bad usage. */
    {"", 2, {"A layout is missing"}},
    {"i f", 2, {"put it into quotes"}},
    {"'i f' --dims", 2, {"--dims needs a value"}},
    {"'i f' --colour", 2, {"--colour is not an option"}},
    {"'i f' --svg /nonexistent/a.svg", 1, {"/nonexistent/a.svg could not be written"}},
};

static void test_output(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const int status = show(runs[i].arguments);
        if (status != runs[i].status)
            fail_msg("%s: exit status %d\n%s", runs[i].arguments, status, output);
        for (int w = 0; w < MOST_WORDS && runs[i].words[w] != NULL; w++)
            assert_output(runs[i].words[w]);
        assert_null(strchr(output, '\033'));
    }
}

static void test_messages_as_json(void **state)
{
    (void)state;
    assert_int_equal(show("'@r/3 r%3 c' --dims 'r:7 c:4' --to '@c/2 c%2 r' --json"), 0);
    json_t *told = json_loads(output, 0, NULL);
    assert_non_null(told);
    assert_int_equal(json_integer_value(json_object_get(told, "processes")), 3);
    assert_int_equal(
        json_integer_value(json_array_get(json_array_get(json_object_get(told, "messages"), 1), 1)),
        6);
    json_decref(told);
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
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_messages_as_json),
        cmocka_unit_test(test_svg_files),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
