/*
 * The layer's settings, from the environment that `restride run` prepares:
 *   RESTRIDE_POLICY         auto, asta, soa or off
 *   RESTRIDE_TILE           T
 *   RESTRIDE_DEVICE         the device that the program gets: cpu, gpu or a part of its name
 *   RESTRIDE_CONFIG         what a configuration file says, as JSON (config/config.h)
 *   RESTRIDE_REWRITER       path of the restride-rewrite program
 *   RESTRIDE_REPORT_FOLDER  where each process writes its part of the report
 *   RESTRIDE_REPORT_TIMES   set: with the seconds of kernels and conversions
 *   RESTRIDE_VERIFY         set: rewritten launches are compared with the program's own (verify.h)
 */
#include "layer/core/state.h"
#include "layer/core/wait.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

static const char *const policy_names[] = {
    [RS_POLICY_AUTO] = "auto",
    [RS_POLICY_ASTA] = "asta",
    [RS_POLICY_SOA] = "soa",
    [RS_POLICY_OFF] = "off",
};
enum { POLICIES = sizeof policy_names / sizeof policy_names[0] };

const char *rs_policy_name(rs_policy policy)
{
    return policy_names[policy];
}

static bool policy_of_name(rs_policy *policy, const char *name)
{
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policy_names[i], name) == 0) {
            *policy = (rs_policy)i;
            return true;
        }
    return false;
}

static size_t tile_of(const char *text)
{
    long wanted = text != NULL ? strtol(text, NULL, 10) : 0;
    return wanted >= 1 && wanted <= RS_LAYOUT_MOST_TILE ? (size_t)wanted : RS_LAYOUT_TILE;
}

/* The policy that the configuration names for a kernel, else the one for all ("*"); the command
 * line has put its own into RESTRIDE_POLICY. */
rs_policy rs_policy_of_kernel(rs_layer *layer, const char *kernel)
{
    const rs_layer_settings *settings = &layer->settings;
    const json_t *kernels = json_object_get(settings->config, "kernels");
    const char *const sections[] = {kernel, "*"};
    rs_policy policy = settings->policy;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const json_t *section = json_object_get(kernels, sections[i]);
        const char *name = json_string_value(json_object_get(section, "policy"));
        if (name != NULL && policy_of_name(&policy, name))
            break;
    }
    return policy;
}

/* A program may clear its environment later, or write its title over it. */
static char *keep(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL ? strdup(value) : NULL;
}

static void wake(void *layer)
{
    rs_layer_wake(layer);
}

void rs_layer_read_settings(rs_layer *layer)
{
    rs_layer_settings *settings = &layer->settings;
    const char *policy = getenv("RESTRIDE_POLICY");
    if (policy == NULL || !policy_of_name(&settings->policy, policy))
        settings->policy = RS_POLICY_AUTO;
    settings->tile = tile_of(getenv("RESTRIDE_TILE"));
    rs_rewriter_init(&layer->rewriter, keep("RESTRIDE_REWRITER"));
    layer->rewriter.notes_waiting = wake;
    layer->rewriter.data = layer;
    settings->device = keep("RESTRIDE_DEVICE");
    const char *config = getenv("RESTRIDE_CONFIG");
    settings->config = config != NULL ? json_loads(config, 0, NULL) : NULL;
    settings->report_folder = keep("RESTRIDE_REPORT_FOLDER");
    settings->report_times = getenv("RESTRIDE_REPORT_TIMES") != NULL;
    settings->verifies = getenv("RESTRIDE_VERIFY") != NULL;
    if (layer->rewriter.path == NULL)
        settings->policy = RS_POLICY_OFF;
}

bool rs_report_wanted(rs_layer *layer)
{
    return layer->settings.report_folder != NULL;
}

bool rs_report_times(rs_layer *layer)
{
    return rs_report_wanted(layer) && layer->settings.report_times;
}
