/* What the options of other compilers become: a row for each row of the table. */
#include "cmocka_all.h"

#include "syntax/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All that clang gets, with blanks between; notes: how many words were not understood. */
static const struct {
    rs_syntax_dialect dialect;
    const char *words, *expected;
    size_t notes;
} rows[] = {
    {RS_SYNTAX_NVCC, "-Ia -I b --include-path c --include-path=d", "-I/w/a -I/w/b -I/w/c -I/w/d",
     0},
    {RS_SYNTAX_NVCC, "-I a,b -DX,Y=1", "-I/w/a -I/w/b -DX -DY=1", 0},
    {RS_SYNTAX_NVCC, "-I../a/./b/.. -I/x//y/", "-I/a -I/x/y", 0},
    {RS_SYNTAX_NVCC, "-isystem s --system-include=/t", "-isystem /w/s -isystem /t", 0},
    {RS_SYNTAX_NVCC, "-iquote q -idirafter r", "-iquote /w/q -idirafter /w/r", 0},
    {RS_SYNTAX_NVCC, "-include a.h --pre-include b.h", "-include a.h -include b.h", 0},
    {RS_SYNTAX_NVCC, "-DA -D B=2 --define-macro C", "-DA -DB=2 -DC", 0},
    {RS_SYNTAX_NVCC, "-UA -U B --undefine-macro=C", "-UA -UB -UC", 0},
    {RS_SYNTAX_NVCC, "-G --device-debug", "-D__CUDACC_DEBUG__ -D__CUDACC_DEBUG__", 0},
    {RS_SYNTAX_NVCC, "-rdc=true -rdc true", "-D__CUDACC_RDC__ -D__CUDACC_RDC__", 0},
    {RS_SYNTAX_NVCC, "-rdc=false --relocatable-device-code=false", "", 0},
    {RS_SYNTAX_NVCC, "-dc", "-D__CUDACC_RDC__", 0},
    {RS_SYNTAX_NVCC, "--device-c", "-D__CUDACC_RDC__", 0},
    {RS_SYNTAX_NVCC, "-fgpu-rdc", "-D__CUDACC_RDC__", 0},
    {RS_SYNTAX_NVCC, "-ewp", "-D__CUDACC_EWP__", 0},
    {RS_SYNTAX_NVCC, "--expt-relaxed-constexpr -expt-relaxed-constexpr",
     "-D__CUDACC_RELAXED_CONSTEXPR__ -D__CUDACC_RELAXED_CONSTEXPR__", 0},
    {RS_SYNTAX_NVCC, "--extended-lambda --expt-extended-lambda",
     "-D__CUDACC_EXTENDED_LAMBDA__ -D__CUDACC_EXTENDED_LAMBDA__", 0},
    {RS_SYNTAX_NVCC, "-default-stream per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", 0},
    {RS_SYNTAX_NVCC, "--default-stream=legacy", "", 0},
    {RS_SYNTAX_NVCC,
     "-Xcompiler -fopenmp,-DX,-Wall -Xcompiler=-pthread --compiler-options '-DY -O2'",
     "-D_OPENMP=201511 -DX -D_REENTRANT -DY", 0},
    {RS_SYNTAX_NVCC,
     "-Xptxas -v,-O3 --ptxas-options=-v -Xlinker -s -Xnvlink x -Xarchive x -Xcudafe x", "", 0},
    {RS_SYNTAX_NVCC, "-ccbin g++ --compiler-bindir=/usr/bin/g++ -maxrregcount 32 -maxrregcount=64",
     "", 0},
    {RS_SYNTAX_NVCC,
     "--use_fast_math -use_fast_math -ftz=true -prec-div false -prec-sqrt=true --fmad=false", "",
     0},
    {RS_SYNTAX_NVCC, "-lineinfo --generate-line-info -O3 -O0 --optimize 2 -g -debug", "", 0},
    {RS_SYNTAX_NVCC, "-dlto -dlink -dw --compile -ptx -cubin -fatbin -lib -cuda -run --link", "",
     0},
    {RS_SYNTAX_NVCC,
     "-cudart shared --cudadevrt=none -keep --keep-dir d -odir d -t 4 -t8 --threads=2", "", 0},
    {RS_SYNTAX_NVCC, "--output-file o --library m --library-path /l -Xfatbin x -dryrun --verbose",
     "", 0},
    {RS_SYNTAX_NVCC,
     "-diag-suppress 177 --diag-error=20 -Werror all-warnings -w -res-usage -restrict", "", 0},
    {RS_SYNTAX_NVCC, "-forward-unknown-to-host-compiler -Wall -fPIC -m64 -split-compile 4", "", 0},
    {RS_SYNTAX_NVCC, "-o x -ox -lm -L/l -c -MD -MF d -MT t -MQ q -shared -pipe", "", 0},
    {RS_SYNTAX_NVCC, "--cuda-device-only --no-cuda-version-check", "", 0},
    {RS_SYNTAX_NVCC, "-strange --odd=1 main.cu", "", 3},
    {RS_SYNTAX_NVCC, "-Xclang -ast-dump", "", 2},
    {RS_SYNTAX_CC, "-Werror -Ia -x c -W -Os -g3 -funroll-loops -mtune=native", "-I/w/a", 0},
    {RS_SYNTAX_CC, "-DF(a,b)=a -DA=1,2", "-DF(a,b)=a -DA=1,2", 0},
    {RS_SYNTAX_CC, "-imacros m.h -isysroot r --sysroot=/s",
     "-imacros m.h -isysroot /w/r --sysroot /s", 0},
    {RS_SYNTAX_CC,
     "-m32 -funsigned-char -fshort-enums -fpack-struct -march=native -mavx2 -ffast-math",
     "-m32 -funsigned-char -fshort-enums -fpack-struct -march=native -mavx2 -ffast-math", 0},
    {RS_SYNTAX_CC, "-nostdinc -fms-extensions -msse4.1", "-nostdinc -fms-extensions -msse4.1", 0},
    {RS_SYNTAX_CC, "-S -E -v -pipe -static -p -rdynamic -MJ j", "", 0},
    {RS_SYNTAX_CL, "-DA=1 -D B -I i -cl-mad-enable -cl-fast-relaxed-math -cl-denorms-are-zero",
     "-DA=1 -DB -I/w/i -cl-mad-enable -cl-fast-relaxed-math -cl-denorms-are-zero", 0},
    {RS_SYNTAX_CL, "-cl-single-precision-constant -cl-no-signed-zeros -cl-finite-math-only",
     "-cl-single-precision-constant -cl-no-signed-zeros -cl-finite-math-only", 0},
    {RS_SYNTAX_CL, "-cl-unsafe-math-optimizations", "-cl-unsafe-math-optimizations", 0},
    {RS_SYNTAX_CL,
     "-cl-opt-disable -cl-strict-aliasing -cl-uniform-work-group-size -cl-no-subgroup-ifp", "", 0},
    {RS_SYNTAX_CL,
     "-cl-fp32-correctly-rounded-divide-sqrt -cl-kernel-arg-info -create-library -w -Werror -g", "",
     0},
    {RS_SYNTAX_CL, "-cl-nv-maxrregcount=32 -cl-nv-opt-level=3 -cl-nv-verbose", "", 0},
    {RS_SYNTAX_CL, "-cl-intel-something -std=c99", "", 2},
};

static void join(char *line, size_t size, const rs_arguments *words)
{
    line[0] = '\0';
    for (size_t i = 0; i < words->count; i++)
        snprintf(line + strlen(line), size - strlen(line), "%s%s", i > 0 ? " " : "",
                 words->items[i]);
}

static restride_status read_line(rs_syntax_options *options, rs_syntax_dialect dialect,
                                 const char *line, const char *folder)
{
    rs_arguments words = {NULL, 0, false};
    *options = (rs_syntax_options){.language = RS_SYNTAX_BY_NAME};
    rs_arguments_split(&words, line, "");
    restride_status status = rs_syntax_options_add(
        options, dialect, (const char *const *)words.items, words.count, folder);
    rs_arguments_free(&words);
    return status;
}

static void translates_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rs_syntax_options options;
        char line[1024];
        assert_int_equal(read_line(&options, rows[i].dialect, rows[i].words, "/w"), RESTRIDE_OK);
        join(line, sizeof line, &options.arguments);
        assert_string_equal(line, rows[i].expected);
        if (options.notes.count != rows[i].notes)
            fail_msg("%zu notes for %s", options.notes.count, rows[i].words);
        rs_syntax_options_free(&options);
    }
}

static void takes_the_newest_architecture(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int architecture;
        char feature;
    } cases[] = {
        {"-arch=sm_80", 80, 0},
        {"-arch sm_90a", 90, 'a'},
        {"--gpu-architecture=compute_75 -code=sm_86,sm_80", 86, 0},
        {"-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_100,code=[sm_100,compute_100]",
         100, 0},
        {"-gencode arch=compute_90a,code=sm_90a --generate-code arch=compute_80,code=sm_80", 90,
         'a'},
        {"--cuda-gpu-arch=sm_70 --offload-arch=sm_72", 72, 0},
        {"-arch=sm_100f", 100, 'f'},
        {"-O3", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_syntax_options options;
        assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, cases[i].words, "/w"), RESTRIDE_OK);
        assert_int_equal(options.architecture, cases[i].architecture);
        assert_int_equal(options.feature, cases[i].feature);
        assert_int_equal(options.notes.count, 0);
        rs_syntax_options_free(&options);
    }
    rs_syntax_options options;
    assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, "-arch=native -arch=all-major", "/w"),
                     RESTRIDE_OK);
    assert_int_equal(options.architecture, 0);
    assert_int_equal(options.notes.count, 2);
    rs_syntax_options_free(&options);
}

static void keeps_standard_language_and_toolkit(void **state)
{
    (void)state;
    rs_syntax_options options;
    assert_int_equal(
        read_line(&options, RS_SYNTAX_NVCC, "-std=c++11 --std c++20 -x cu --cuda-path=tk", "/w"),
        RESTRIDE_OK);
    assert_string_equal(options.standard, "c++20");
    assert_string_equal(options.toolkit, "/w/tk");
    assert_int_equal(options.language, RS_SYNTAX_CUDA);
    rs_syntax_options_free(&options);
    assert_int_equal(read_line(&options, RS_SYNTAX_CL, "-cl-std=CL2.0 -cl-std=CL3.0", "/w"),
                     RESTRIDE_OK);
    assert_string_equal(options.standard, "CL3.0");
    rs_syntax_options_free(&options);
    assert_int_equal(read_line(&options, RS_SYNTAX_CC, "-xc -ansi", "/w"), RESTRIDE_OK);
    assert_string_equal(options.standard, "c89");
    assert_int_equal(options.language, RS_SYNTAX_C);
    rs_syntax_options_free(&options);
}

static void refuses_an_option_without_its_value(void **state)
{
    (void)state;
    static const char *const cases[] = {"-I", "-DX -arch", "-Xcompiler", "--std"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_syntax_options options;
        assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, cases[i], "/w"),
                         RESTRIDE_INVALID_ARGUMENT);
        rs_syntax_options_free(&options);
    }
}

static void splits_as_a_shell(void **state)
{
    (void)state;
    static const char *const expected[] = {"a b", "c\"d", "e\\f", "", "g'h", "i\\"};
    rs_arguments words = {NULL, 0, false};
    rs_arguments_split(&words, " 'a b'\tc\\\"d \n'e\\f' '' \"g'h\" i\\", "");
    assert_int_equal(words.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(words.items[i], expected[i]);
    rs_arguments_free(&words);
}

static void reads_response_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/restride-options-XXXXXX", path[64], line[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/one", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("-DONE -I 'a b'\n@two\n", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/two", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("-DTWO", file);
    fclose(file);
    rs_syntax_options options;
    assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, "@one -optf two -DZ", folder),
                     RESTRIDE_OK);
    char expected[256];
    snprintf(expected, sizeof expected, "-DONE -I%s/a b -DTWO -DTWO -DZ", folder);
    join(line, sizeof line, &options.arguments);
    assert_string_equal(line, expected);
    rs_syntax_options_free(&options);
    assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, "@none", folder), RESTRIDE_IO);
    rs_syntax_options_free(&options);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("@two", file);
    fclose(file);
    assert_int_equal(read_line(&options, RS_SYNTAX_NVCC, "@two", folder),
                     RESTRIDE_INVALID_ARGUMENT);
    rs_syntax_options_free(&options);
    unlink(path);
    snprintf(path, sizeof path, "%s/one", folder);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translates_each_row),
        cmocka_unit_test(takes_the_newest_architecture),
        cmocka_unit_test(keeps_standard_language_and_toolkit),
        cmocka_unit_test(refuses_an_option_without_its_value),
        cmocka_unit_test(splits_as_a_shell),
        cmocka_unit_test(reads_response_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
