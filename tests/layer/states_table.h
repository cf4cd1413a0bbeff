/* The table of a buffer's states as the document has it: test_core --table. */
#ifndef RS_TESTS_STATES_TABLE_H
#define RS_TESTS_STATES_TABLE_H

#include "layer/core/buffer.h"

#include <stdio.h>

static void print_table(void)
{
    printf("| event |");
    for (int state = 0; state < RS_BUFFER_STATES; state++)
        printf(" %s |", rs_buffer_state_name((rs_buffer_state)state));
    printf("\n|---|---|---|---|---|---|\n");
    for (int event = 0; event < RS_BUFFER_EVENTS; event++) {
        printf("| %s |", rs_buffer_event_name((rs_buffer_event)event));
        for (int state = 0; state < RS_BUFFER_STATES; state++) {
            const rs_buffer_step step =
                rs_buffer_next((rs_buffer_state)state, (rs_buffer_event)event);
            const char *action = rs_buffer_action_name(step.action);
            printf(" %s", action[0] != '\0' ? action : "go on");
            if ((int)step.next != state)
                printf(" → %s", rs_buffer_state_name(step.next));
            printf(" |");
        }
        printf("\n");
    }
}

#endif
