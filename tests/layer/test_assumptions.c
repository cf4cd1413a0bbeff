/*
 * What the names of macros and the device tell, against what its compiler says: each name that
 * tells is asked about, too. The layer's files on OpenCL's own functions, without the layer.
 */
#include "cmocka_all.h"

#include "layer/core/process_exit.h"
#include "layer/opencl/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rs_opencl_layer rs_opencl;

char *rs_api_device_name(rs_device device)
{
    (void)device;
    return strdup("a device");
}

bool rs_exit_has_begun(const rs_layer *layer)
{
    (void)layer;
    return false;
}

static cl_device_id device;
static rs_layer_program program = {.devices = (void *)&device, .device_count = 1};
static char no_options[] = "";

static int find_device(void **state)
{
    (void)state;
    cl_platform_id platform;
    cl_icd_dispatch *driver = &rs_opencl.driver;
    driver->clGetDeviceInfo = clGetDeviceInfo;
    driver->clCreateProgramWithSource = clCreateProgramWithSource;
    driver->clBuildProgram = clBuildProgram;
    driver->clGetProgramInfo = clGetProgramInfo;
    driver->clReleaseProgram = clReleaseProgram;
    program.options = no_options;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 0; /* without a driver there is nothing to compare with */
    program.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    return program.context == NULL;
}

static int release_device(void **state)
{
    (void)state;
    return program.context != NULL && clReleaseContext(program.context) != CL_SUCCESS;
}

/* With its value where the device tells one. */
static json_t *ask(const char *name, bool has_value)
{
    json_t *names = json_pack("[s]", name), *values = json_array(), *macros = json_object();
    bool differ;
    if (has_value)
        json_array_append(values, json_array_get(names, 0));
    assert_true(rs_macros_ask(&program, names, values, macros, &differ));
    json_decref(names);
    json_decref(values);
    return macros;
}

/* Whether a name tells; if so, it tells what the compiler says. */
static bool check(const char *name)
{
    json_t *names = json_pack("[s]", name), *none = json_array(), *macros = json_object();
    const bool told = rs_macros_assume(&program, names, none, macros);
    assert_int_equal(json_object_size(macros), told);
    if (told) {
        json_t *asked = ask(name, json_is_string(json_object_get(macros, name)));
        char *ours = json_dumps(macros, 0), *theirs = json_dumps(asked, 0);
        if (strcmp(ours, theirs) != 0)
            fail_msg("assumed %s, the compiler says %s", ours, theirs);
        free(ours);
        free(theirs);
        json_decref(asked);
    }
    json_decref(names);
    json_decref(none);
    json_decref(macros);
    return told;
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool tells;
    } names[] = {
        {"cl_khr_fp64", true},
        {"cl_khr_fp6", true},
        {"cl_khr_global_int32_base_atomics", true},
        {"cl_amd_fp64", true},
        {"cl_of_program", true},
        {"__OPENCL_VERSION__", true},
        {"__ENDIAN_LITTLE__", true},
        {"__IMAGE_SUPPORT__", true},
        {"__APPLE__", true},
        {"__cplusplus", true},
        {"__CUDACC__", true},
        {"_OPENMP", true},
        {"_WIN32", true},
        {"FLT_MAX", true},
        {"M_PI_F", true},
        {"NULL", true},
        {"INFINITY", true},
        {"WIDTH", true},
        {"USE_DOUBLES", true},
        {"LocalSize", true},
        {"use_doubles", true},
        {"block2", true},
        {"__OPENCL_C_VERSION__", false},
        {"__FAST_RELAXED_MATH__", false},
        {"__x86_64__", false},
        {"__NV_CL_C_VERSION", false},
        {"CL_VERSION_1_2", false},
        {"CLK_LOCAL_MEM_FENCE", false},
        {"FP_FAST_FMAF", false},
        {"linux", false},
        {"half", false},
    };
    if (program.context == NULL)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (check(names[i].name) != names[i].tells)
            fail_msg("%s", names[i].name);
}

/* One name that does not tell, a value, or a second device: then the compilers are asked. */
static void test_all_or_nothing(void **state)
{
    (void)state;
    static cl_device_id two[2];
    json_t *names = json_pack("[ss]", "WIDTH", "linux"), *known = json_pack("[s]", "WIDTH");
    json_t *defined = json_pack("[s]", "FLT_MAX"), *none = json_array(), *macros = json_object();
    if (program.context == NULL)
        skip();
    assert_false(rs_macros_assume(&program, names, none, macros));
    assert_false(rs_macros_assume(&program, defined, defined, macros));
    rs_layer_program both = program;
    two[0] = two[1] = device;
    both.devices = (void *)two;
    both.device_count = 2;
    assert_false(rs_macros_assume(&both, known, none, macros));
    assert_int_equal(json_object_size(macros), 0);
    assert_true(rs_macros_assume(&program, known, known, macros));
    assert_true(json_is_null(json_object_get(macros, "WIDTH")));
    json_object_set_new(macros, "A", json_true());
    json_t *value = json_pack("[s]", "A");
    assert_false(rs_macros_assume(&program, none, value, macros));
    json_decref(value);
    json_decref(macros);
    json_decref(none);
    json_decref(defined);
    json_decref(known);
    json_decref(names);
}

/* Of the names in conditions, those that are taken for undefined and that no option may define. */
static void test_names_in_source(void **state)
{
    (void)state;
    static char source[] = "#define OWN 1\n#ifdef ONE\n  #  if defined(TWO) && 0x1FUL < THREE_3\n"
                           "#elif FLT_MAX || __x86_64__ || linux || cl_of_program\n#endif\n"
                           "#endif\nint NOT_TESTED; // #ifdef IN_TEXT\n#ifndef SIX";
    static char options[] = "-DTWO=2";
    json_t *macros = json_object(),
           *expected = json_pack("{s:n, s:n, s:n, s:n}", "ONE", "THREE_3", "cl_of_program", "SIX");
    if (program.context == NULL)
        skip();
    program.core.source = source;
    program.options = options;
    assert_true(rs_macros_assume_undefined(&program, macros));
    char *text = json_dumps(macros, 0);
    if (!json_equal(macros, expected))
        fail_msg("%s", text);
    json_object_clear(macros);
    program.core.source = source + strlen(source);
    assert_false(rs_macros_assume_undefined(&program, macros));
    program.core.source = NULL;
    program.options = no_options;
    free(text);
    json_decref(expected);
    json_decref(macros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_names_in_source),
                                       cmocka_unit_test(test_all_or_nothing)};
    return cmocka_run_group_tests(tests, find_device, release_device);
}
