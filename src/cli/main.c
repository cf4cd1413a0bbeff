/* restride VERB ...: the table of its verbs. */
#include "cli/cli.h"
#include "console/program.h"

static const rs_cli_verb verbs[] = {
#ifdef RESTRIDE_HAVE_OPENCL
    {"run", rs_verb_run, "run an OpenCL program with its arrays of structures in a better layout",
     NULL},
#else
    {"run", NULL, "OpenCL (RESTRIDE_OPENCL)", NULL},
#endif
#ifdef RESTRIDE_HAVE_REWRITE
    {"rewrite", rs_verb_rewrite,
     "show a kernel rewritten for another layout, and what was refused and why", NULL},
#else
    {"rewrite", NULL, "libclang (RESTRIDE_REWRITE)", NULL},
#endif
#ifdef RESTRIDE_HAVE_ANALYZE
    {"analyze", rs_verb_analyze,
     "find the access patterns of kernels and loops, and what suits them", NULL},
#else
    {"analyze", NULL, "libclang and isl (RESTRIDE_REWRITE)", NULL},
#endif
#ifdef RESTRIDE_HAVE_REWRITE
    {"nvcc", rs_verb_nvcc, "compile CUDA programs so that `restride run` can change their layouts",
     NULL},
#else
    {"nvcc", NULL, "libclang (RESTRIDE_REWRITE)", NULL},
#endif
    {"show", rs_verb_show, "draw a layout as text or SVG", rs_help_show},
    {"transpose", rs_verb_transpose, "transpose the array in a file, in place", rs_help_transpose},
    {"convert", rs_verb_convert, "change the layout of the array in a file, in place",
     rs_help_convert},
    {"file-status", rs_verb_file_status, "say whether the change of a file is done or half done",
     rs_help_file_status},
    {"reorder", rs_verb_reorder, "find an order of data and threads for A[P[t]]", rs_help_reorder},
#ifdef RESTRIDE_HAVE_CONFIG
    {"sim", rs_verb_sim, "compare layouts on the model of a device's memory", NULL},
#else
    {"sim", NULL, "libinih (RESTRIDE_CONFIG)", NULL},
#endif
    {"bench", rs_verb_bench, "measure conversions on this machine", NULL},
    {"tune", rs_verb_tune, "measure plans and keep the fastest", rs_help_tune},
    {"doctor", rs_verb_doctor, "say what works on this machine, and what to install for the rest",
     rs_help_doctor},
};

int main(int argc, char **argv)
{
#ifdef RESTRIDE_HAVE_REWRITE
    const int nvcc = rs_nvcc_launched(argc, argv);
    if (nvcc != 0)
        return rs_nvcc_launch(argc, argv, nvcc);
#endif
    return rs_cli_run_program("restride", verbs, sizeof verbs / sizeof verbs[0], argc, argv);
}
