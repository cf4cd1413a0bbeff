/*
 * restride rewrite and restride analyze: hand over to programs of their own beside this one.
 * libclang lives there alone: in one process it could meet the LLVM of an OpenCL driver, and every
 * other verb would wait for it to load.
 */
#include "base/text.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "console/parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In a wheel libclang is that of PyPI, a package of its own, unless LD_LIBRARY_PATH has one. */
static bool lacks_libclang(const char *path)
{
#ifdef RESTRIDE_WHEEL
    rs_text library = RS_TEXT_EMPTY;
    rs_text_format(&library, "%.*s/../../../../clang/native/libclang.so",
                   (int)(strrchr(path, '/') - path), path);
    const bool lacks = getenv("LD_LIBRARY_PATH") == NULL && library.data != NULL &&
                       access(library.data, R_OK) != 0;
    rs_text_free(&library);
    return lacks;
#else
    (void)path;
    return false;
#endif
}

static int hand_over(const char *part, const char *name, char **argv)
{
    char *path = NULL;
    if (rs_cli_part_path(part, &path) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    if (lacks_libclang(path)) {
        free(path);
        return rs_cli_fail(RS_EXIT_FAILED, argv[0],
                           "What reads kernels needs libclang, which is not installed here: "
                           "pip install libclang.");
    }
    execv(path, argv);
    const int error = errno;
    free(path);
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "The %s could not be started: %s.", name,
                       strerror(error));
}

int rs_verb_rewrite(int argc, char **argv)
{
    (void)argc;
    return hand_over(RS_PART_REWRITER, "rewriter", argv);
}

int rs_verb_analyze(int argc, char **argv)
{
    (void)argc;
    return hand_over(RS_PART_ANALYZER, "analyzer", argv);
}
