/* Every place at which an invocation of clang takes memory fails, once and with all that follow:
 * nothing leaks, and what comes back is whole or nothing. */
#include "base/text.h"
#include "cmocka_all.h"
#include "heap.h"
#include "syntax/invocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/restride-faults-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(rs_text_write_file(path, text, strlen(text)), RESTRIDE_OK);
}

static int make_folder(void **state)
{
    (void)state;
    char path[256];
    heap_begin();
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i == 0 ? "include" : "include/crt");
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file("include/cuda_runtime.h", "");
    write_file("include/crt/host_config.h", "");
    write_file("include/cuda_runtime_api.h", "#define CUDART_VERSION 13000\n");
    write_file("words", "-DB -Ic");
    write_file("compile_commands.json",
               "[{\"directory\":\".\",\"file\":\"k.cu\",\"command\":\"nvcc -DA -Ia k.cu\"}]");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void fails_whole(void **state)
{
    (void)state;
    char path[256], commands[256], response[256];
    snprintf(path, sizeof path, "%s/k.cu", folder);
    snprintf(commands, sizeof commands, "%s/compile_commands.json", folder);
    snprintf(response, sizeof response, "@%s/words", folder);
    const char *const options[] = {"-arch=sm_90a", "-I",           "a,b",        response,
                                   "-Xcompiler",   "-fopenmp,-DC", "-std=c++14", "-odd"};
    const rs_invocation_request request = {.path = path,
                                           .text = "int x;",
                                           .size = 6,
                                           .options = options,
                                           .option_count = sizeof options / sizeof options[0],
                                           .commands = commands,
                                           .toolkit = folder,
                                           .clang = 19};
    size_t failures = 0;
    for (heap_mode mode = HEAP_FAILS_ONCE; mode <= HEAP_FAILS_ON; mode++) {
        for (size_t call = 0;; call++) {
            rs_invocation invocation;
            heap_watch(call, mode);
            restride_status status = rs_invocation_make(&invocation, &request);
            if (status == RESTRIDE_OK)
                rs_invocation_free(&invocation);
            else
                assert_null(invocation.arguments);
            heap_report report = heap_stop();
            if (report.live != 0)
                fail_msg("call %zu (%s) failed, and %lld blocks leaked", call, report.first,
                         report.live);
            /* jansson takes a shortage of memory for an error of syntax. */
            if (status != RESTRIDE_OK && status != RESTRIDE_OUT_OF_MEMORY &&
                strstr(restride_last_error(), "no array in JSON") == NULL)
                fail_msg("call %zu (%s) failed, and the status was %d: %s", call, report.first,
                         status, restride_last_error());
            failures += status != RESTRIDE_OK;
            if (report.refused == 0)
                break;
        }
    }
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
