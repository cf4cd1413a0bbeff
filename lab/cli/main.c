/* restride-lab VERB ...: the table of its verbs. */
#include "console/program.h"
#include "lab/cli/lab.h"

static const rs_cli_verb verbs[] = {
    {"figures", rs_lab_figures, "the papers' figures and tables on transposition, as JSON and SVG",
     NULL},
    {"scale", rs_lab_scale,
     "redistributions over many GPUs: messages, time and efficiency by a model", NULL},
    {"tune", rs_lab_tune, "the planner's choice beside the best of all plans, on random matrices",
     NULL},
#ifdef RESTRIDE_HAVE_OPENCL
    {"apps", rs_lab_apps, "applications in each layout, and under restride run", NULL},
#endif
#if defined(RESTRIDE_HAVE_OPENCL) || defined(RESTRIDE_HAVE_CUDA)
    {"grids", rs_lab_grids, "structured grids in several layouts over their sizes, on a device",
     NULL},
    {"probe", rs_lab_probe, "the bits of addresses that steer a device's memory", NULL},
#ifdef RESTRIDE_HAVE_CONFIG
    {"judge", rs_lab_judge, "what the judge foretells of layouts, beside what a device measures",
     NULL},
#endif
#endif
#ifdef RESTRIDE_HAVE_ANALYZE
    {"patterns", rs_lab_patterns,
     "published tables of access patterns, beside what restride analyze finds", NULL},
#ifdef RESTRIDE_HAVE_OPENCL
    {"check", rs_lab_check,
     "what restride analyze --apply writes, run on a device beside the nests as they were", NULL},
#endif
#endif
#ifdef RESTRIDE_HAVE_CONFIG
    {"dlt", rs_lab_dlt, "the data layout transformer's cycles, and its paper's figures", NULL},
    {"sim", rs_lab_sim, "the speed of the model of a memory behind restride sim", NULL},
#endif
};

int main(int argc, char **argv)
{
    return rs_cli_run_program("restride-lab", verbs, sizeof verbs / sizeof verbs[0], argc, argv);
}
