/* restride bench: the measurements, each in a file of its own. */
#include "cli/bench.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "console/options.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: restride bench MEASUREMENT [OPTIONS]...\n"
    "\n"
#ifdef RESTRIDE_HAVE_OPENCL
    "  marshal     AoS to ASTA and back on an OpenCL device, beside a copy on the device\n"
#endif
    "  offload     matrices in host memory, transposed in place through a device\n"
    "  permute     permutations of a tensor's axes in place on the host, beside a copy\n"
    "  plans       the time of making a plan beside that of a run, on the host or a device\n"
    "  transfer    AoS that becomes ASTA on the way to a device, and back, beside plain copies\n"
    "  transpose   in-place transposition on the host or a device, beside a copy there\n"
    "\n"
    "Each has options of its own: restride bench MEASUREMENT --help. All print JSON with --json.\n"
    "\n"
    "Examples:\n"
    "  restride bench transpose --shape 7200x1800,10000x10000 --type f64\n"
    "  restride bench marshal --words 8,19 --tile 16,32,64 --verify\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} measurements[] = {
#ifdef RESTRIDE_HAVE_OPENCL
    {"marshal", rs_bench_marshal, rs_help_bench_marshal},
#endif
    {"offload", rs_bench_offload, rs_help_bench_offload},
    {"permute", rs_bench_permute, rs_help_bench_permute},
    {"plans", rs_bench_plans, rs_help_bench_plans},
    {"transfer", rs_bench_transfer, rs_help_bench_transfer},
    {"transpose", rs_bench_transpose, rs_help_bench_transpose},
};

int rs_verb_bench(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return RS_EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof measurements / sizeof measurements[0]; i++)
        if (strcmp(argv[1], measurements[i].name) == 0)
            return rs_cli_helps(argc - 1, argv + 1, measurements[i].help)
                       ? RS_EXIT_DONE
                       : measurements[i].run(argc - 1, argv + 1);
    if (rs_cli_helps(2, argv, usage)) /* of bench itself: an unknown measurement has no help */
        return RS_EXIT_DONE;
    return rs_cli_fail(RS_EXIT_USAGE, argv[0],
                       "\"%s\" cannot be measured here; restride bench --help says what can.",
                       argv[1]);
}
