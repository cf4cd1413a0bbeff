/* Launches: see launch.h. */
#include "layer/core/launch.h"

#include "base/log.h"
#include "layer/core/launch_wait.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/wait.h"

#include <stdio.h>

void rs_launch_choose(rs_layer *layer, rs_choice *choice, rs_stream queue, void *handle,
                      rs_launch_find *find, void *launch)
{
    const double longest = 30;
    double end = 0;
    bool is_in_time = true;
    for (;;) {
        const unsigned long long seen = rs_layer_changes(layer);
        if (!find(choice, launch))
            return;
        rs_choose(choice);
        if (!choice->is_pending || rs_exit_has_begun(layer) || !is_in_time)
            return;
        rs_layer_unlock(layer);
        if (choice->has_waited) {
            end = end > 0 ? end : rs_seconds_now() + longest;
            is_in_time = rs_layer_wait(layer, seen, end);
        } else {
            rs_launch_wait(layer, queue, handle);
        }
        choice->has_waited = true;
        rs_layer_lock(layer);
    }
}

/* Whether the kernel has been launched before in this form. It is the program's own business
 * whether the driver still compiles its own form, if it has launched no other. */
static bool has_run(const rs_choice *choice, unsigned form)
{
    const rs_kernel *kernel = choice->kernel;
    if (kernel == NULL || kernel->facts == NULL)
        return !choice->rewritten;
    return (kernel->facts->forms_run & form) != 0 ||
           (!choice->rewritten && kernel->facts->forms_run == 0);
}

int rs_launch_place(rs_command *command, const rs_choice *choice, unsigned form)
{
    if (!rs_exit_admits(command->layer, has_run(choice, form)))
        return command->error = rs_api_lost;
    if (choice->kernel != NULL)
        rs_command_use_all(command, choice->kernel, choice->rewritten ? choice->layouts : NULL,
                           choice->by_policy ? choice->demand : RS_AGAINST_LAYOUT);
    return command->error;
}

bool rs_launch_falls_back(rs_command *command, rs_choice *choice, int error, const char *what)
{
    const rs_kernel *kernel = choice->kernel;
    char refused[80];
    if (command->error != 0 && command->refusal == NULL)
        return false;
    rs_log(RS_LOG_INFO, "a %s could not be launched (error %d)", what, error);
    snprintf(refused, sizeof refused, "the device refused to launch the %s", what);
    if (command->refusal != NULL)
        rs_report_hold(kernel->facts, command->argument, command->refusal);
    else
        rs_report_hold(kernel->facts, kernel->targets[0].index, refused);
    command->error = 0;
    command->refusal = NULL;
    choice->rewritten = false;
    return true;
}
