/* The states of a buffer: see buffer.h. */
#include "layer/core/buffer.h"

#define ORIGINAL RS_BUFFER_ORIGINAL
#define MAPPED RS_BUFFER_MAPPED
#define KEPT RS_BUFFER_KEPT
#define CONVERTED RS_BUFFER_CONVERTED
#define LOST RS_BUFFER_LOST

/* choice.c asks for no layout of a buffer that is mapped or kept, so those entries refuse. A
 * restored buffer is KEPT, not ORIGINAL, once rs_buffer_keep() has given a reason. */
static const rs_buffer_step table[RS_BUFFER_STATES][RS_BUFFER_EVENTS] = {
    [ORIGINAL] = {[RS_USE_ORIGINAL] = {RS_DO_NOTHING, ORIGINAL},
                  [RS_USE_SAME] = {RS_DO_REFUSE, ORIGINAL},
                  [RS_USE_OTHER] = {RS_DO_CONVERT, CONVERTED},
                  [RS_USE_OPAQUE] = {RS_DO_NOTHING, ORIGINAL},
                  [RS_REPLACED_ORIGINAL] = {RS_DO_NOTHING, ORIGINAL},
                  [RS_REPLACED_CONVERTED] = {RS_DO_SET_LAYOUT, CONVERTED},
                  [RS_RESTORE] = {RS_DO_NOTHING, ORIGINAL},
                  [RS_TORN] = {RS_DO_RELEASE, LOST}},
    [MAPPED] = {[RS_USE_ORIGINAL] = {RS_DO_NOTHING, MAPPED},
                [RS_USE_SAME] = {RS_DO_REFUSE, MAPPED},
                [RS_USE_OTHER] = {RS_DO_REFUSE, MAPPED},
                [RS_USE_OPAQUE] = {RS_DO_NOTHING, MAPPED},
                [RS_REPLACED_ORIGINAL] = {RS_DO_NOTHING, MAPPED},
                [RS_REPLACED_CONVERTED] = {RS_DO_REFUSE, MAPPED},
                [RS_RESTORE] = {RS_DO_NOTHING, MAPPED},
                [RS_TORN] = {RS_DO_RELEASE, LOST}},
    [KEPT] = {[RS_USE_ORIGINAL] = {RS_DO_NOTHING, KEPT},
              [RS_USE_SAME] = {RS_DO_REFUSE, KEPT},
              [RS_USE_OTHER] = {RS_DO_REFUSE, KEPT},
              [RS_USE_OPAQUE] = {RS_DO_NOTHING, KEPT},
              [RS_REPLACED_ORIGINAL] = {RS_DO_NOTHING, KEPT},
              [RS_REPLACED_CONVERTED] = {RS_DO_REFUSE, KEPT},
              [RS_RESTORE] = {RS_DO_NOTHING, KEPT},
              [RS_TORN] = {RS_DO_RELEASE, LOST}},
    [CONVERTED] = {[RS_USE_ORIGINAL] = {RS_DO_RESTORE, ORIGINAL},
                   [RS_USE_SAME] = {RS_DO_NOTHING, CONVERTED},
                   [RS_USE_OTHER] = {RS_DO_RESTORE_CONVERT, CONVERTED},
                   [RS_USE_OPAQUE] = {RS_DO_NOTHING, CONVERTED},
                   [RS_REPLACED_ORIGINAL] = {RS_DO_SET_LAYOUT, ORIGINAL},
                   [RS_REPLACED_CONVERTED] = {RS_DO_SET_LAYOUT, CONVERTED},
                   [RS_RESTORE] = {RS_DO_RESTORE, ORIGINAL},
                   [RS_TORN] = {RS_DO_RELEASE, LOST}},
    [LOST] = {[RS_USE_ORIGINAL] = {RS_DO_REFUSE, LOST},
              [RS_USE_SAME] = {RS_DO_REFUSE, LOST},
              [RS_USE_OTHER] = {RS_DO_REFUSE, LOST},
              [RS_USE_OPAQUE] = {RS_DO_REFUSE, LOST},
              [RS_REPLACED_ORIGINAL] = {RS_DO_REFUSE, LOST},
              [RS_REPLACED_CONVERTED] = {RS_DO_REFUSE, LOST},
              [RS_RESTORE] = {RS_DO_REFUSE, LOST},
              [RS_TORN] = {RS_DO_NOTHING, LOST}},
};

rs_buffer_state rs_buffer_state_of(const rs_buffer *buffer)
{
    if (buffer->is_lost)
        return LOST;
    if (buffer->layout != NULL)
        return CONVERTED;
    if (buffer->kept_reason != NULL)
        return KEPT;
    return buffer->map_count > 0 ? MAPPED : ORIGINAL;
}

rs_buffer_step rs_buffer_next(rs_buffer_state state, rs_buffer_event event)
{
    return table[state][event];
}

const char *rs_buffer_state_name(rs_buffer_state state)
{
    static const char *const names[] = {[ORIGINAL] = "original",
                                        [MAPPED] = "mapped",
                                        [KEPT] = "kept",
                                        [CONVERTED] = "converted",
                                        [LOST] = "lost"};
    return names[state];
}

const char *rs_buffer_event_name(rs_buffer_event event)
{
    static const char *const names[] = {[RS_USE_ORIGINAL] = "use, original layout",
                                        [RS_USE_SAME] = "use, its layout",
                                        [RS_USE_OTHER] = "use, another layout",
                                        [RS_USE_OPAQUE] = "use, bytes unread",
                                        [RS_REPLACED_ORIGINAL] = "replaced, original layout",
                                        [RS_REPLACED_CONVERTED] = "replaced, another layout",
                                        [RS_RESTORE] = "restore",
                                        [RS_TORN] = "conversion fails midway"};
    return names[event];
}

const char *rs_buffer_action_name(rs_buffer_action action)
{
    static const char *const names[] = {[RS_DO_NOTHING] = "",
                                        [RS_DO_CONVERT] = "convert",
                                        [RS_DO_RESTORE] = "restore",
                                        [RS_DO_RESTORE_CONVERT] = "restore, convert",
                                        [RS_DO_SET_LAYOUT] = "set layout",
                                        [RS_DO_RELEASE] = "release",
                                        [RS_DO_REFUSE] = "refuse"};
    return names[action];
}

bool rs_buffer_is_sound(const rs_buffer *buffer)
{
    const bool is_converted = buffer->layout != NULL;
    const bool has_workspace = buffer->workspace.plans != NULL || buffer->workspace.scratch != NULL;
    return !(is_converted && (buffer->is_lost || buffer->map_count > 0)) &&
           (is_converted || !has_workspace) &&
           (buffer->ready != NULL || buffer->ready_queue == NULL);
}
