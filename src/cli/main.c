/* restride VERB ...: finds the verb and hands over. */
#include "cli/cli.h"

#include <errno.h>
#include <restride_version.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verb;

static const verb verbs[] = {
#ifdef RESTRIDE_HAVE_OPENCL
    {"run", rs_verb_run, "run an OpenCL program with its arrays of structures in a better layout"},
#endif
    {"rewrite", rs_verb_rewrite,
     "show a kernel rewritten for another layout, and what was refused and why"},
#ifdef RESTRIDE_HAVE_ANALYZE
    {"analyze", rs_verb_analyze,
     "find the access patterns of kernels and loops, and what suits them"},
#endif
    {"show", rs_verb_show, "draw a layout as text or SVG"},
    {"transpose", rs_verb_transpose, "transpose the array in a file, in place"},
    {"convert", rs_verb_convert, "change the layout of the array in a file, in place"},
    {"reorder", rs_verb_reorder, "find an order of data and threads for A[P[t]]"},
#ifdef RESTRIDE_HAVE_CONFIG
    {"sim", rs_verb_sim, "compare layouts on the model of a device's memory"},
#endif
#if defined(RESTRIDE_HAVE_OPENCL) || defined(RESTRIDE_HAVE_CUDA)
    {"probe", rs_verb_probe, "find the bits of addresses that steer a device's memory"},
#endif
    {"bench", rs_verb_bench, "measure conversions on this machine"},
    {"tune", rs_verb_tune, "measure plans and keep the fastest"},
    {"doctor", rs_verb_doctor, "say what works on this machine, and what to install for the rest"},
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: restride VERB [OPTIONS]...\n\n");
    for (int i = 0; i < VERB_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(stream,
            "\nrestride VERB --help explains a verb; restride --version prints the version.\n");
}

/* A disk may be full, or a reader gone, when what was printed is written at last. */
static int finish(int exit_status, const char *name)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    return exit_status != RS_EXIT_DONE
               ? exit_status
               : rs_cli_fail(RS_EXIT_FAILED, name, "Its output could not be written: %s.",
                             strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return RS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return RS_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2)
            return rs_cli_fail(RS_EXIT_USAGE, argv[1], "\"%s\" is one argument too many.", argv[2]);
        printf("restride %s\n", RS_VERSION);
        return RS_EXIT_DONE;
    }
    for (int i = 0; i < VERB_COUNT; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return finish(verbs[i].run(argc - 1, argv + 1), argv[1]);
    fprintf(stderr, "restride: \"%s\" is not a verb; restride --help lists them.\n", argv[1]);
    return RS_EXIT_USAGE;
}
